// A tree whose splits stay while rows are counted in its nodes.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "banditree/data/row_store.hpp"
#include "banditree/trees/tree.hpp"

namespace banditree {

class CountedTree {
 public:
    // Takes over the splits of a tree; no row is counted yet.
    void plant(Tree tree) {
        tree_ = std::move(tree);
        forget_counts();
    }
    // Takes over what its nodes count as well.
    void plant(Tree tree, std::vector<Moments> counted) {
        tree_ = std::move(tree);
        moments_ = std::move(counted);
    }
    void forget_counts() { moments_.assign(tree_.nodes.size(), Moments()); }
    // Counts a row of the store, about its offset, in all nodes on its way.
    void count(const RowStore& rows, std::uint32_t row);
    // Takes a row that is counted out again.
    void uncount(const RowStore& rows, std::uint32_t row);
    // From now on, all that is counted is about an offset lower by so much.
    void lower_offset(double by);
    // What is counted where the context falls.
    const Moments& leaf(const double* context) const;
    // Its splits, and what is counted in its leaves, from left to right.
    const Tree& splits() const { return tree_; }
    std::vector<Moments> leaves() const;
    // The tree with what is counted in its nodes; gains are those it was planted with.
    Tree current(double offset) const;
    bool is_planted() const { return !tree_.nodes.empty(); }
    std::size_t n_counted() const { return is_planted() ? moments_[0].n : 0; }

    void write(ByteWriter& out) const;
    // One that counts rows of the store, each with weight 1.
    static CountedTree read(ByteReader& in, const RowStore& rows);

 private:
    // Calls visit with the number of each node on a way; value_of gives the value of a feature.
    template <class Value, class Visit>
    void walk(Value value_of, Visit visit) const;

    Tree tree_;
    std::vector<Moments> moments_;  // of each node
};

}  // namespace banditree
