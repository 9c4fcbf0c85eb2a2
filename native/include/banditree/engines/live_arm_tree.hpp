// An arm's tree that is the batch tree after every row.
#pragma once

#include "banditree/engines/arm_tree.hpp"
#include "banditree/trees/incremental.hpp"

namespace banditree {

class LiveArmTree : public ArmTree {
 public:
    explicit LiveArmTree(const ArmTreeSettings& settings)
        : ArmTree(settings), tree_(settings.growth, settings.max_bins) {}

    void set_kinds(const std::vector<Kind>& kinds) override { tree_.set_kinds(kinds); }
    void learn(std::span<const double> context, double reward) override;
    void learn_many(const Matrix& contexts, std::span<const double> rewards) override;

    const RowStore& rows() const override { return tree_.rows(); }
    double alpha() const override { return tree_.alpha(); }
    const Moments& leaf(const double* context) const override { return tree_.pruned_leaf(context); }
    Tree pruned() const override { return tree_.pruned(); }
    std::vector<Moments> leaves() const override { return tree_.pruned_leaves(); }

    // Rows and price; reading grows the tree again.
    void write(ByteWriter& out) const override;
    void read(ByteReader& in) override;

 private:
    // Follows the schedule once rows have come.
    void validate();

    IncrementalTree tree_;
    LeafPrice price_;
};

}  // namespace banditree
