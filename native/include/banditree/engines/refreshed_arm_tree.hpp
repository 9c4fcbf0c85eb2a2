// An arm's tree that is grown anew each time its rows have grown by a share. In between its splits
// stay, and rows are counted where they fall, so that a row costs a walk from the root to a leaf.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "banditree/data/row_window.hpp"
#include "banditree/engines/arm_tree.hpp"
#include "banditree/trees/counted_tree.hpp"

namespace banditree {

// At how many rows the tree was last grown, and alpha last chosen.
struct Refreshes {
    std::size_t grown_at = 0;
    std::size_t chosen_at = 0;

    // Where they are at n rows. Alpha is chosen where the tree is grown, once the rows have also
    // reached the next point of the schedule.
    Refreshes at(std::size_t n, double share) const;
};

// With a window, all is as without one until it is full. From then on rows that fall out of it are
// taken out of the counts at once; and each time so many rows have come that a tree of a full
// window would be grown anew, the arm becomes what it would be had it learned the rows in the
// window only.
class RefreshedArmTree : public ArmTree {
 public:
    explicit RefreshedArmTree(const ArmTreeSettings& settings)
        : ArmTree(settings), rows_(settings.max_bins) {}

    void set_kinds(const std::vector<Kind>& kinds) override { rows_.set_kinds(kinds); }
    void learn(std::span<const double> context, double reward) override;
    void learn_many(const Matrix& contexts, std::span<const double> rewards) override;
    void restore(const Matrix& contexts, std::span<const double> rewards,
                 std::size_t n_learned) override;

    bool is_due() const override;
    std::unique_ptr<ArmTree> cutting() const override;
    void catch_up() override;
    std::size_t n_since(const ArmTree& grown) const override;
    void plant(ArmTree&& grown) override;

    const RowStore& rows() const override { return rows_; }
    // What the tree was pruned at when it was grown.
    double alpha() const override { return price_.alpha(refreshes_.grown_at); }
    const Moments& leaf(const double* context) const override { return tree_.leaf(context); }
    // Gains are those of the last growth.
    Tree pruned() const override { return tree_.current(offset()); }
    std::vector<Moments> leaves() const override { return tree_.leaves(); }

    void write(ByteWriter& out) const override;
    void read(ByteReader& in) override;

 private:
    bool grows_beside() const {
        return settings_.beside > 0 && n_rows() >= std::max<std::size_t>(settings_.beside, 1);
    }
    // What is due at so many rows. While a window fills only; later its rows are learned alone.
    Refreshes due_at(std::size_t n) const {
        return refreshes_.at(settings_.window > 0 ? std::min(n, settings_.window) : n,
                             settings_.refresh);
    }
    void follow(const Refreshes& due);
    void plant_anew();
    void take_rows(const Matrix& contexts, std::span<const double> rewards);
    void learn_beyond_window(const Matrix& contexts, std::span<const double> rewards);
    void learn_window_only();
    RowWindow window() const { return settings_.rows_that_count(); }
    void count_rows();
    void count_about_offset();

    RowStore rows_;
    Refreshes refreshes_;
    LeafPrice price_;
    CountedTree tree_;
    // The rows from `forgotten_` to `counted_` are counted.
    std::size_t forgotten_ = 0;
    std::size_t counted_ = 0;
    double offset_ = 0;        // about which they were counted
    std::size_t dropped_ = 0;  // so many rows at the beginning, while it grew beside
};

}  // namespace banditree
