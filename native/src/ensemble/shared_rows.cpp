#include "banditree/ensemble/shared_rows.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

namespace banditree {

void SharedRows::set_kinds(const std::vector<Kind>& kinds) {
    if (kinds.size() < kinds_.size()) throw std::invalid_argument("features cannot be taken away");
    for (std::size_t f = 0; f < kinds_.size(); ++f)
        if (kinds[f] != kinds_[f] && !columns_[f].empty_of_values())
            throw std::invalid_argument("feature " + std::to_string(f) +
                                        " has values of the other kind");
    for (std::size_t f = columns_.size(); f < kinds.size(); ++f) {
        RawColumn& column = columns_.emplace_back();
        for (std::size_t i = 0; i < size(); ++i)
            column.push(std::numeric_limits<double>::quiet_NaN());
    }
    kinds_ = kinds;
}

void SharedRows::append(std::uint32_t arm, const double* context, double reward) {
    for (std::size_t f = 0; f < columns_.size(); ++f) columns_[f].push(context[f]);
    arms_.push_back(arm);
    rewards_.push_back(reward);
    numbers_.push_back(n_learned_++);
}

SharedRows SharedRows::first(std::uint64_t n_learned) const {
    SharedRows rows = *this;
    const std::size_t n = first_since(n_learned);
    for (RawColumn& column : rows.columns_) column.keep_first(n);
    rows.arms_.keep_first(n);
    rows.rewards_.keep_first(n);
    rows.numbers_.keep_first(n);
    rows.n_learned_ = n_learned;
    return rows;
}

std::size_t SharedRows::first_since(std::uint64_t n_learned) const {
    const auto found = std::lower_bound(numbers_.begin(), numbers_.end(), n_learned);
    return static_cast<std::size_t>(found - numbers_.begin());
}

std::size_t SharedRows::fair_share(std::size_t most, std::uint32_t n_arms) const {
    std::vector<std::size_t> counts(n_arms, 0);
    for (const std::uint32_t arm : arms_) ++counts[arm];
    std::sort(counts.begin(), counts.end());
    std::size_t left = most;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const std::size_t share = left / (counts.size() - i);
        if (counts[i] > share) return share;
        left -= counts[i];
    }
    return size();
}

void SharedRows::keep_last(std::span<const std::int64_t> most) {
    std::vector<std::int64_t> kept(most.size(), 0);
    std::vector<std::uint32_t> rows;
    for (std::size_t i = size(); i-- > 0;)
        if (kept[arms_[i]]++ < most[arms_[i]]) rows.push_back(static_cast<std::uint32_t>(i));
    if (rows.size() == size()) return;
    std::reverse(rows.begin(), rows.end());
    for (RawColumn& column : columns_) {
        RawColumn last;
        for (const std::uint32_t row : rows) last.push(column.at(row));
        column = std::move(last);
    }
    const auto pick = [&](auto& values) {
        std::decay_t<decltype(values)> picked;
        picked.reserve(rows.size());
        for (const std::uint32_t row : rows) picked.push_back(values[row]);
        values = std::move(picked);
    };
    pick(arms_);
    pick(rewards_);
    pick(numbers_);
}

std::vector<double> SharedRows::context(std::size_t row) const {
    std::vector<double> context;
    for (const RawColumn& column : columns_) context.push_back(column.at(row));
    return context;
}

CodedRows SharedRows::coded(const Coder& coder, std::uint32_t n_arms) const {
    CodedRows rows;
    rows.n_arms = n_arms;
    rows.arms.assign(arms_.begin(), arms_.end());
    rows.rewards.assign(rewards_.begin(), rewards_.end());
    rows.numbers.assign(numbers_.begin(), numbers_.end());
    const std::size_t width = coder.n_features();
    rows.codes_by_row.resize(size() * width);
    rows.scaled_by_row.resize(size() * width);
    for (std::uint32_t f = 0; f < width; ++f) {
        rows.codes.push_back(coder.codes_of(f, columns_[f]));
        const std::vector<float> scaled = coder.scaled_of(f, columns_[f]);
        for (std::size_t i = 0; i < size(); ++i) {
            rows.codes_by_row[i * width + f] = rows.codes[f][i];
            rows.scaled_by_row[i * width + f] = scaled[i];
        }
    }
    return rows;
}

}  // namespace banditree
