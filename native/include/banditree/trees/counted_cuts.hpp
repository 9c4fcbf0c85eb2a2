// The cuts of a number in a node whose rows are counted, to be judged before any is worked out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "banditree/data/sums.hpp"
#include "banditree/trees/scan.hpp"

namespace banditree {

class CountedCuts {
 public:
    // So many codes have a bit each in a word.
    static constexpr std::uint32_t kWordCodes = 64;

    // Takes the counts of the codes 0..n_codes.
    void take(const Counts* by_code, std::uint32_t n_codes);
    // Takes what add_up_by_word has added up, of which nothing is left there. There is room for
    // kWordCodes + 1 codes.
    void take_out(Counts* by_code, std::uint64_t occurring);

    bool vary() const { return size_ + occurs(missing_) > 1; }
    // False only if no cut of these rows, whose sums are `total`, gains more than `bar` and the
    // tolerance of ties.
    bool may_exceed(double bar, const Sums& total) const;
    void describe(Groups& groups) const;

 private:
    void make_room(std::size_t n_codes) {
        if (codes_.size() > n_codes) return;
        codes_.resize(n_codes + 1);
        up_to_.resize(n_codes + 1);
    }
    bool may_exceed(double bar, const Sums& total, const Counts& beside) const;

    std::size_t size_ = 0;
    std::vector<std::uint32_t> codes_;  // those that occur, ascending
    std::vector<std::uint64_t> up_to_;  // the counts from the first of them up to each, as bits
    Counts missing_;
};

}  // namespace banditree
