// Rows that keep arriving: their values, and the codes that trees are grown on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "banditree/data/dataset.hpp"
#include "banditree/data/raw_column.hpp"
#include "banditree/data/schedule.hpp"
#include "banditree/data/sums.hpp"
#include "banditree/state.hpp"

namespace banditree {

class RowStore {
 public:
    // max_bins 0: exact, and then there are no codes until a tree needs them.
    explicit RowStore(std::uint32_t max_bins) : max_bins_(max_bins) {}

    // Features may be added, and one without a value so far may become a category. Throws
    // std::invalid_argument.
    void check_kinds(const std::vector<Kind>& kinds) const;
    // True if anything changed. Throws as check_kinds.
    bool set_kinds(const std::vector<Kind>& kinds);
    void append(std::span<const double> context, double reward, double weight);
    // Gives the first rows other rewards.
    void replace_first_rewards(std::span<const double> rewards);
    // Follows the schedule of docs/trees.md once rows have been appended; true if that changed
    // codes, rewards or numbers of earlier rows.
    bool renew();
    // Of that, only what takes rewards about another offset; true if it did.
    bool move_offset();
    bool renewal_is_due() const { return next_point(renewed_at_) <= n_rows(); }
    // What the store was when it had so many rows; `renew` then follows the schedule up to them.
    RowStore first(std::size_t n) const;
    // Takes over bins that were renewed in a copy, which may have fewer rows.
    void adopt_bins(RowStore&& copy);
    // The oldest row that counts, of which there is one, does so no longer. It stays where it is
    // until bins are renewed, so that rows keep their numbers; true as above.
    bool forget();
    // Makes a store, once it has got the rows of another one, go on as that one would. Throws
    // std::invalid_argument, and then has changed nothing.
    void resume(std::size_t renewed_at, std::size_t forgotten);

    // By what a row's feature is compared: the code of its bin or category or, of numbers if the
    // store is exact, the value itself. Missing: code 0 or, of such a number, NaN.
    double key(std::uint32_t feature, std::uint32_t row) const;
    bool is_missing(double key) const { return exact() ? key != key : key == 0; }
    bool alike(std::uint32_t a, std::uint32_t b) const;
    // Codes of the newest row; empty if the store is exact.
    const std::vector<std::uint32_t>& newest() const { return newest_; }

    bool exact() const { return max_bins_ == 0; }
    std::size_t n_rows() const { return data_.n_rows(); }
    // So many rows at the beginning count no longer.
    std::size_t forgotten() const { return forgotten_; }
    // The bins are made from so many rows at the beginning.
    std::size_t renewed_at() const { return renewed_at_; }
    // Between the reward and that of any row that counts.
    double farthest(double reward) const {
        return std::max(std::abs(reward - lowest_), std::abs(reward - highest_));
    }
    std::size_t n_codes() const;
    const std::vector<Kind>& kinds() const { return kinds_; }
    double value(std::uint32_t feature, std::uint32_t row) const {
        return columns_[feature].at(row);
    }
    double reward(std::size_t row) const { return rewards_.at(row); }
    double lowest_reward() const { return lowest_; }
    double highest_reward() const { return highest_; }
    Sums sums(std::uint32_t row) const {
        return {data_.weight(row), data_.weight(row) * data_.y[row]};
    }
    // Rewards, weights and, unless the store is exact, codes of all rows.
    const Dataset& data() const { return data_; }
    // Some rows, or all that count, with exact codes of their own; with the store's bins if it has
    // them.
    Dataset encode_exactly(const std::vector<std::uint32_t>& rows) const;
    Dataset snapshot() const;
    // Of each feature; empty for categories and for an exact store.
    std::vector<std::vector<double>> edges() const;

    std::size_t bytes() const;
    std::size_t value_bytes() const;  // of values and rewards alone, in the narrowest types

    // Values and edges of bins; codes follow from them. After `renew` only.
    void write(ByteWriter& out) const;
    static RowStore read(ByteReader& in, std::uint32_t max_bins);

 private:
    void retake_rewards();
    void encode_again();
    void renew_bins();
    void append_weight(double weight);
    void find_range();
    void drop_forgotten();
    void read_rewards(ByteReader& in);
    void read_column(ByteReader& in, Kind kind);
    void read_features(ByteReader& in);

    std::uint32_t max_bins_;
    std::vector<Kind> kinds_;
    std::vector<RawColumn> columns_;
    RawColumn rewards_;
    double lowest_ = 0;  // of the rewards that count
    double highest_ = 0;
    Dataset data_;
    std::size_t renewed_at_ = 0;
    std::size_t forgotten_ = 0;
    std::vector<std::uint32_t> newest_;
};

}  // namespace banditree
