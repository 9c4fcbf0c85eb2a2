// What the leaves of a forest's tree expect of each arm.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "banditree/ensemble/shared_tree.hpp"
#include "banditree/state.hpp"

namespace banditree {

// A leaf that has seen few arms, of many, expects the others to pay what they paid in the node
// above. So it has the differences from that, of the arms that it has seen, and so has each node
// above, up to one that has seen more and has a row of means. A leaf that has seen more has a row
// of its own.
class ForestLeaves : public LeafSink {
 public:
    // base: what is expected of each arm, the last of arms to come, before a tree has spoken.
    ForestLeaves(std::span<const float> base, float shrinkage);
    std::uint32_t inner(std::uint32_t above, const NodeValues& node) override;
    void leaf(std::uint32_t above, const NodeValues& node) override;

    // Adds to the means of arms what is not in the row that it returns, of all arms.
    const float* add_differences(std::uint32_t leaf, std::span<float> means) const;
    float mean(std::uint32_t leaf, std::uint32_t arm) const;
    // Of all arms together.
    float overall(std::uint32_t leaf) const { return overall_[leaf].mean; }
    // Of arms that came since, all together learn only.
    void learn(std::uint32_t leaf, std::uint32_t arm, float weight, float reward);
    std::vector<float> means_of(std::uint32_t arm) const;  // in each leaf
    std::vector<float> weights() const;                    // of each leaf

    void write(ByteWriter& out) const;
    static ForestLeaves read(ByteReader& in, std::span<const float> base, std::size_t n_leaves);

 private:
    // Up to so many arms, all leaves have rows; of more, where one in so many has been seen.
    static constexpr std::uint32_t kFewArms = 32;
    static constexpr std::size_t kSeen = 8;
    static constexpr std::uint32_t kNone = 0xffffffff;
    // Differences of a node from the one above, or a row.
    struct Level {
        std::uint32_t above = 0;
        std::uint32_t row = kNone;
        std::uint32_t first = 0;  // of its differences
    };
    struct Difference {
        std::uint32_t arm = 0;
        float mean = 0;
    };
    struct Leaf {
        std::uint32_t above = 0;
        std::uint32_t own = kNone;  // the last of its differences
        std::uint32_t row = kNone;  // in place of these
    };
    struct Own {
        std::uint32_t arm = 0;
        float mean = 0;
        float weight = 0;
        std::uint32_t next = kNone;  // of the leaf, further to the front
    };
    struct Mean {
        float mean = 0;
        float weight = 0;
        void learn(float of, float reward) {
            weight += of;
            mean += of / weight * (reward - mean);
        }
    };
    std::uint32_t n_arms() const { return static_cast<std::uint32_t>(base_.size()) - 1; }
    bool gets_row(const NodeValues& node) const {
        return n_arms() <= kFewArms || kSeen * node.present.size() >= n_arms();
    }
    void add_row(const NodeValues& node, std::vector<float>& rows) const;
    std::size_t cell(const Leaf& leaf, std::uint32_t arm) const {
        return std::size_t{leaf.row} * n_arms() + arm;
    }
    std::span<const Difference> differences(std::uint32_t level) const {
        const std::size_t end =
            level + 1 < levels_.size() ? levels_[level + 1].first : differences_.size();
        return std::span(differences_).subspan(levels_[level].first, end - levels_[level].first);
    }
    float inherited(const Leaf& leaf, std::uint32_t arm) const;
    void learn_difference(Leaf& leaf, std::uint32_t arm, float weight, float reward);
    void read_levels(ByteReader& in);
    void read_own(ByteReader& in);

    std::vector<float> base_;
    float shrinkage_ = 1;
    std::vector<Mean> overall_;   // of each leaf
    std::vector<float> rows_;     // of leaves
    std::vector<float> weights_;  // of what is in these
    std::vector<float> level_rows_;
    std::vector<Level> levels_;
    std::vector<Difference> differences_;
    std::vector<Leaf> leaves_;
    std::vector<Own> own_;
};

}  // namespace banditree
