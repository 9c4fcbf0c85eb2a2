// The trees of arms as bytes. What rows and settings say is not written, but found again.
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "banditree/engines/halved_arm.hpp"
#include "banditree/engines/live_arm_tree.hpp"
#include "banditree/engines/refreshed_arm_tree.hpp"

namespace banditree {

using Reader = ByteReader;

namespace {

constexpr std::uint64_t kMostRows = std::uint64_t{1} << 62;  // that an arm can have learned

}  // namespace

bool Spread::is_sound() const {
    return std::isfinite(n) && n >= 0 && std::isfinite(mean) && std::isfinite(squared_error) &&
           squared_error >= 0 && std::abs(lowest) <= kLargest && std::abs(highest) <= kLargest &&
           lowest <= highest;
}

void Spread::write(ByteWriter& out) const {
    for (const double number : {n, mean, squared_error, lowest, highest}) out.put(number);
}

Spread Spread::read(ByteReader& in) {
    Spread spread;
    for (double* number :
         {&spread.n, &spread.mean, &spread.squared_error, &spread.lowest, &spread.highest})
        *number = in.get<double>();
    Reader::require(spread.is_sound());
    return spread;
}

void LeafPrice::write(ByteWriter& out) const {
    out.put(per_row);
    out.put<std::uint64_t>(chosen_at);
}

LeafPrice LeafPrice::read(ByteReader& in, std::size_t n_rows) {
    LeafPrice price;
    price.per_row = in.between(0.0, std::numeric_limits<double>::infinity());
    price.chosen_at = static_cast<std::size_t>(in.between<std::uint64_t>(n_rows > 0, n_rows));
    return price;
}

void RefreshedArmTree::write(ByteWriter& out) const {
    rows_.write(out);
    price_.write(out);
    out.put<std::uint64_t>(refreshes_.grown_at);
    tree_.write(out);
}

// All rows of the window are counted, about the offset, whenever a call of `learn` has ended.
void RefreshedArmTree::read(ByteReader& in) {
    rows_ = RowStore::read(in, settings_.max_bins);
    price_ = LeafPrice::read(in, n_rows());
    refreshes_.chosen_at = price_.chosen_at;
    refreshes_.grown_at =
        static_cast<std::size_t>(in.between<std::uint64_t>(price_.chosen_at, n_rows()));
    tree_ = CountedTree::read(in, rows_);
    forgotten_ = window().excess(n_rows());
    counted_ = n_rows();
    offset_ = offset();
    Reader::require(tree_.is_planted() == (n_rows() > 0));
    Reader::require(tree_.n_counted() == counted_ - forgotten_);
}

void HalvedArm::write(ByteWriter& out) const {
    rows_.write(out);
    out.put<std::uint64_t>(first_);
    price_.write(out);
    out.put<std::uint64_t>(replicas_.size());
    for (const Replica& replica : replicas_) {
        out.put<std::uint64_t>(replica.grown_at);
        replica.tree.write(out);
    }
}

// Who takes which row follows from the coins.
void HalvedArm::read(ByteReader& in) {
    rows_ = RowStore::read(in, settings_.max_bins);
    first_ = static_cast<std::size_t>(in.between<std::uint64_t>(0, kMostRows));
    price_ = LeafPrice::read(in, rows_.n_rows());
    forgotten_ = window().excess(rows_.n_rows());
    counted_ = rows_.n_rows();
    offset_ = rows_.data().offset;
    toss_coins(counted_);
    Reader::require(in.length(1) == settings_.n_replicas);
    for (std::uint32_t i = 0; i < settings_.n_replicas; ++i) read_replica(in, i);
}

void HalvedArm::read_replica(ByteReader& in, std::uint32_t i) {
    Replica& replica = replicas_[i];
    std::size_t taken = 0;
    for (std::size_t row = 0; row < counted_; ++row) {
        taken += takes(i, row);
        replica.n_rows += row >= forgotten_ && takes(i, row);
    }
    replica.grown_at = static_cast<std::size_t>(in.between<std::uint64_t>(taken > 0, taken));
    replica.tree = CountedTree::read(in, rows_);
    Reader::require(replica.tree.is_planted() == (taken > 0));
    Reader::require(replica.tree.n_counted() == replica.n_rows);
}

void LiveArmTree::write(ByteWriter& out) const {
    rows().write(out);
    price_.write(out);
}

void LiveArmTree::read(ByteReader& in) {
    const RowStore read = RowStore::read(in, settings_.max_bins);
    price_ = LeafPrice::read(in, read.n_rows());
    tree_.set_kinds(read.kinds());
    if (read.n_rows() == 0) return;
    const std::size_t n = read.n_rows(), n_features = read.kinds().size();
    std::vector<double> contexts(n * n_features), rewards(n);
    for (std::uint32_t row = 0; row < n; ++row) {
        for (std::uint32_t f = 0; f < n_features; ++f)
            contexts[row * n_features + f] = read.value(f, row);
        rewards[row] = read.reward(row);
    }
    tree_.learn_many({contexts.data(), n, n_features}, rewards, {});
    tree_.set_alpha(price_.alpha(n));
    tree_.settle();
}

}  // namespace banditree
