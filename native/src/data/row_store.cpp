#include "banditree/data/row_store.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "banditree/data/schedule.hpp"
#include "banditree/data/tight.hpp"

namespace banditree {

void RowStore::check_kinds(const std::vector<Kind>& kinds) const {
    if (kinds.size() < kinds_.size()) throw std::invalid_argument("features cannot be taken away");
    for (std::size_t f = 0; f < kinds_.size(); ++f)
        if (kinds[f] != kinds_[f] && !columns_[f].empty_of_values())
            throw std::invalid_argument("feature " + std::to_string(f) +
                                        " has values of the other kind");
}

bool RowStore::set_kinds(const std::vector<Kind>& kinds) {
    check_kinds(kinds);
    if (kinds == kinds_) return false;
    columns_.resize(kinds.size());
    for (std::size_t f = kinds_.size(); f < kinds.size(); ++f)
        for (std::size_t i = 0; i < n_rows(); ++i)
            columns_[f].push(std::numeric_limits<double>::quiet_NaN());
    if (!exact()) {
        data_.features.resize(kinds.size());
        for (std::size_t f = 0; f < kinds.size(); ++f) {
            if (f < kinds_.size() && kinds[f] == kinds_[f]) continue;
            const auto column = columns_[f].first(n_rows());
            data_.features[f] = kinds[f] == Kind::category
                                    ? encode_column(column, Kind::category, max_bins_)
                                    : encode_column_on(column, {});
        }
    }
    kinds_ = kinds;
    return true;
}

void RowStore::append(std::span<const double> context, double reward, double weight) {
    newest_.assign(exact() ? 0 : columns_.size(), 0);
    for (std::size_t f = 0; f < columns_.size(); ++f) {
        columns_[f].push(context[f]);
        if (exact()) continue;
        newest_[f] = data_.features[f].push(context[f]);
    }
    data_.flags.push(data_.features, newest_);
    lowest_ = n_rows() == 0 ? reward : std::min(lowest_, reward);
    highest_ = n_rows() == 0 ? reward : std::max(highest_, reward);
    rewards_.push(reward);
    data_.push_reward(reward);
    append_weight(weight);
}

void RowStore::append_weight(double weight) {
    if (data_.w.empty() && weight == 1) return;
    if (data_.w.empty()) data_.w.assign(n_rows() - 1, 1.0);
    push_tight(data_.w, weight);
}

bool RowStore::renew() {
    const std::size_t next = next_point(renewed_at_);
    const bool due = next <= n_rows();
    const bool drops = due && forgotten_ > 0;
    if (drops) {
        renewed_at_ = next - forgotten_;
        drop_forgotten();
    }
    renewed_at_ = last_point(renewed_at_, n_rows());
    const bool moved = move_offset();
    if (!due || exact()) return moved || drops;
    renew_bins();
    return true;
}

RowStore RowStore::first(std::size_t n) const {
    RowStore some = *this;
    if (n == n_rows()) return some;
    for (RawColumn& column : some.columns_) column.keep_first(n);
    some.rewards_.keep_first(n);
    if (!some.data_.w.empty()) some.data_.w.resize(n);
    some.find_range();
    some.data_.offset = offset_of(some.lowest_, some.highest_);
    some.retake_rewards();
    if (!exact()) some.encode_again();
    return some;
}

// Codes of all rows, on the bins that there are.
void RowStore::encode_again() {
    for (std::size_t f = 0; f < columns_.size(); ++f) {
        const auto column = columns_[f].first(n_rows());
        Feature& feature = data_.features[f];
        feature = kinds_[f] == Kind::category ? encode_column(column, Kind::category, max_bins_)
                                              : encode_column_on(column, std::move(feature.values));
    }
    data_.flags.build(data_.features, renewed_at_, n_rows());
}

void RowStore::adopt_bins(RowStore&& copy) {
    const std::size_t before = copy.n_rows();
    std::swap(renewed_at_, copy.renewed_at_);
    if (exact() || renewed_at_ == copy.renewed_at_) return;
    for (std::size_t f = 0; f < columns_.size(); ++f) {
        if (kinds_[f] == Kind::category) continue;
        std::swap(data_.features[f], copy.data_.features[f]);
        for (std::size_t row = before; row < n_rows(); ++row)
            data_.features[f].push(columns_[f].at(row));
    }
    std::swap(data_.flags, copy.data_.flags);
    std::vector<std::uint32_t> codes(columns_.size());
    for (std::size_t row = before; row < n_rows(); ++row) {
        for (std::size_t f = 0; f < codes.size(); ++f) codes[f] = data_.features[f].codes.at(row);
        data_.flags.push(data_.features, codes);
    }
}

bool RowStore::forget() {
    const double reward = rewards_.at(forgotten_++);
    if (2 * forgotten_ >= n_rows()) {
        drop_forgotten();
        renewed_at_ = n_rows();
        find_range();
        move_offset();
        if (!exact()) renew_bins();
        return true;
    }
    if (reward == lowest_ || reward == highest_) find_range();
    return move_offset();
}

void RowStore::drop_forgotten() {
    for (RawColumn& column : columns_) column.drop_first(forgotten_);
    rewards_.drop_first(forgotten_);
    data_.drop_first(forgotten_);
    forgotten_ = 0;
}

// Finds the range again, which has not become wider.
void RowStore::find_range() {
    const double lowest = lowest_, highest = highest_;
    for (std::size_t row = forgotten_; row < n_rows(); ++row) {
        const double reward = rewards_.at(row);
        lowest_ = row == forgotten_ ? reward : std::min(lowest_, reward);
        highest_ = row == forgotten_ ? reward : std::max(highest_, reward);
        if (lowest_ == lowest && highest_ == highest) return;
    }
}

void RowStore::resume(std::size_t renewed_at, std::size_t forgotten) {
    const bool sound = n_rows() == 0 ? renewed_at == 0 && forgotten == 0
                                     : renewed_at <= n_rows() && forgotten <= (n_rows() - 1) / 2 &&
                                           n_rows() < next_point(renewed_at);
    if (!sound) throw std::invalid_argument("no tree with so many rows can have forgotten these");
    if (n_rows() == 0) return;
    renewed_at_ = renewed_at;
    forgotten_ = forgotten;
    find_range();
    move_offset();
    if (!exact()) renew_bins();
}

// Takes the rewards about the offset of a tree grown on all rows; true if that is another one than
// before.
bool RowStore::move_offset() {
    const double offset = offset_of(lowest_, highest_);
    if (offset == data_.offset) return false;
    data_.offset = offset;
    retake_rewards();
    return true;
}

void RowStore::retake_rewards() {
    data_.binary = true;
    data_.y.clear();
    data_.y.reserve(tight_capacity(rewards_.size()));
    for (std::size_t i = 0; i < rewards_.size(); ++i) data_.push_reward(rewards_.at(i));
}

void RowStore::replace_first_rewards(std::span<const double> rewards) {
    auto all = rewards_.first(rewards_.size());
    std::copy_n(rewards.begin(), std::min(rewards.size(), all.size()), all.begin());
    rewards_ = RawColumn();
    for (const double reward : all) rewards_.push(reward);
    const auto [low, high] = std::minmax_element(all.begin(), all.end());
    lowest_ = *low;
    highest_ = *high;
    data_.offset = offset_of(lowest_, highest_);
    retake_rewards();
}

void RowStore::renew_bins() {
    for (std::size_t f = 0; f < columns_.size(); ++f) {
        if (kinds_[f] == Kind::category) continue;
        Feature renewed = encode_column(columns_[f].first(renewed_at_), Kind::number, max_bins_);
        if (renewed_at_ < n_rows())
            renewed = encode_column_on(columns_[f].first(n_rows()), std::move(renewed.values));
        renewed.codes.leave_room();
        data_.features[f] = std::move(renewed);
    }
    data_.flags.build(data_.features, renewed_at_, n_rows());
    data_.flags.leave_room();
}

double RowStore::key(std::uint32_t feature, std::uint32_t row) const {
    if (!exact()) return data_.features[feature].codes.at(row);
    const double value = columns_[feature].at(row);
    if (kinds_[feature] == Kind::number) return value;
    return std::isnan(value) ? 0 : value + 1;
}

bool RowStore::alike(std::uint32_t a, std::uint32_t b) const {
    for (std::uint32_t f = 0; f < kinds_.size(); ++f) {
        const double x = key(f, a), y = key(f, b);
        if (x != y && !(std::isnan(x) && std::isnan(y))) return false;
    }
    return true;
}

std::size_t RowStore::n_codes() const {
    std::size_t total = 0;
    for (const Feature& feature : data_.features) total += feature.n_codes + 1;
    return total;
}

Dataset RowStore::encode_exactly(const std::vector<std::uint32_t>& rows) const {
    Dataset data;
    data.offset = data_.offset;
    data.binary = data_.binary;
    for (const auto row : rows) data.y.push_back(data_.y[row]);
    if (!data_.w.empty())
        for (const auto row : rows) data.w.push_back(data_.w[row]);
    std::vector<double> column(rows.size());
    for (std::size_t f = 0; f < columns_.size(); ++f) {
        for (std::size_t i = 0; i < rows.size(); ++i) column[i] = columns_[f].at(rows[i]);
        data.features.push_back(encode_column(column, kinds_[f], 0));
    }
    data.flags.build(data.features, rows.size(), rows.size());
    return data;
}

Dataset RowStore::snapshot() const {
    if (exact()) {
        std::vector<std::uint32_t> rows(n_rows() - forgotten_);
        std::iota(rows.begin(), rows.end(), static_cast<std::uint32_t>(forgotten_));
        return encode_exactly(rows);
    }
    Dataset data = data_;
    if (forgotten_ > 0) data.drop_first(forgotten_);
    return data;
}

std::vector<std::vector<double>> RowStore::edges() const {
    std::vector<std::vector<double>> edges(kinds_.size());
    for (std::size_t f = 0; f < data_.features.size(); ++f)
        if (kinds_[f] == Kind::number) edges[f] = data_.features[f].values;
    return edges;
}

std::size_t RowStore::value_bytes() const {
    std::size_t total = rewards_.bytes();
    for (const RawColumn& column : columns_) total += column.bytes();
    return total;
}

std::size_t RowStore::bytes() const { return value_bytes() + data_.bytes(); }

}  // namespace banditree
