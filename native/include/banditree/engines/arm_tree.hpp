// The tree that TreeHeuristic keeps of an arm.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "banditree/data/row_store.hpp"
#include "banditree/data/row_window.hpp"
#include "banditree/engines/leaf_price.hpp"
#include "banditree/laws/posterior.hpp"
#include "banditree/trees/tree.hpp"

namespace banditree {

struct ArmTreeSettings {
    Growth growth;
    std::uint32_t max_bins = 0;  // 0: exact
    std::uint32_t n_folds = 10;
    double refresh = 0;  // by which share the rows grow until the tree is grown anew; 0: every row
    std::size_t window = 0;  // only so many rows, the last ones, count; 0: all
    std::size_t beside = 0;  // trees of so many rows are grown beside; 0: none

    RowWindow rows_that_count() const { return {window, refresh, 0, beside > 0}; }
};

// A tree on the rows of an arm, pruned at an alpha that is chosen again on schedule. Reading never
// grows anything.
class ArmTree {
 public:
    explicit ArmTree(const ArmTreeSettings& settings) : settings_(settings) {}
    ArmTree(const ArmTree&) = delete;
    ArmTree& operator=(const ArmTree&) = delete;
    virtual ~ArmTree() = default;
    static std::unique_ptr<ArmTree> make(const ArmTreeSettings& settings);

    virtual void set_kinds(const std::vector<Kind>& kinds) = 0;
    virtual void learn(std::span<const double> context, double reward) = 0;
    // The same as learning the rows one by one.
    virtual void learn_many(const Matrix& contexts, std::span<const double> rewards) = 0;
    // Gives a tree without rows those that another one has kept of all that it has learned.
    virtual void restore(const Matrix& contexts, std::span<const double> rewards,
                         std::size_t n_learned) {
        (void)n_learned;  // all of them are there
        learn_many(contexts, rewards);
    }

    // Growing beside (see Gardener): whether a tree is due that `learn` has not grown; a copy to
    // grow it on; to become, there, what the tree would be had it been grown when it was due; how
    // many rows have been learned since; and to take over what was grown and count these.
    virtual bool is_due() const { return false; }
    virtual std::unique_ptr<ArmTree> cutting() const { return nullptr; }
    virtual void catch_up() {}
    virtual std::size_t n_since(const ArmTree& grown) const { return n_rows() - grown.n_rows(); }
    virtual void plant(ArmTree&& grown) { (void)grown; }

    virtual const RowStore& rows() const = 0;
    virtual double alpha() const = 0;
    // Of the rows that count and fall where the context does; there are some rows.
    virtual const Moments& leaf(const double* context) const = 0;
    virtual Tree pruned() const = 0;
    // Of the pruned tree, from left to right.
    virtual std::vector<Moments> leaves() const = 0;

    virtual void write(ByteWriter& out) const = 0;
    // Into a tree without rows; it goes on as the one that was written.
    virtual void read(ByteReader& in) = 0;

    std::size_t n_rows() const { return rows().n_rows(); }
    std::size_t n_learned() const { return n_rows(); }  // its state says no more
    double offset() const { return rows().data().offset; }
    Evidence held_out(const double* context) const {
        return held_out_evidence(rows(), settings_.growth, alpha(), settings_.n_folds, context);
    }

 protected:
    double chosen_alpha() const {
        return choose_alpha(rows(), settings_.growth, settings_.n_folds);
    }

    ArmTreeSettings settings_;
};

}  // namespace banditree
