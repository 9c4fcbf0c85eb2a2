// Several trees of one arm, each on a random half of its rows. The rows are stored once; a tree is
// grown anew each time its half has grown by a share. With a window, an arm learns its last rows
// again, alone, each time a share of them is new.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "banditree/data/cells.hpp"
#include "banditree/data/row_window.hpp"
#include "banditree/engines/arm_tree.hpp"
#include "banditree/engines/leaf_price.hpp"
#include "banditree/laws/posterior.hpp"
#include "banditree/random/rng.hpp"
#include "banditree/trees/counted_tree.hpp"

namespace banditree {

// A tree is grown anew each time its half has grown by `refresh`.
struct HalvedArmSettings : ArmTreeSettings {
    std::uint32_t n_replicas = 0;
};

class HalvedArm {
 public:
    // The coins that say which replicas take in a row depend on the row's number only.
    HalvedArm(const HalvedArmSettings& settings, const Rng& coins, const std::vector<Kind>& kinds);

    void set_kinds(const std::vector<Kind>& kinds) { rows_.set_kinds(kinds); }
    void learn(std::span<const double> context, double reward) {
        learn_many({context.data(), 1, context.size()}, {&reward, 1});
    }
    void learn_many(const Matrix& contexts, std::span<const double> rewards);
    // Gives an arm without rows those that another one has kept of all that it has learned.
    void restore(const Matrix& contexts, std::span<const double> rewards, std::size_t n_learned);

    // The arm becomes what it would be had it learned its last rows only, at most so many.
    void keep_last(std::size_t most);

    // Growing beside, as of an ArmTree. The copy has no trees but those that are grown on it.
    bool is_due() const;
    std::unique_ptr<HalvedArm> cutting() const;
    void catch_up();
    std::size_t n_since(const HalvedArm& grown) const { return n_learned() - grown.n_learned(); }
    void plant(HalvedArm&& grown);

    // Whether no replica has a row that counts.
    bool is_cold() const;
    // What counts where the context falls, in the tree of a replica; nothing if it has no rows.
    Evidence leaf(std::uint32_t replica, const double* context) const;
    // Whether each replica takes in the row of this number, of all that the arm has learned.
    std::vector<bool> members(std::size_t row) const;
    const RowStore& rows() const { return rows_; }
    std::size_t n_counted() const { return counted_ - forgotten_; }
    std::size_t n_learned() const { return first_ + rows_.n_rows(); }
    std::size_t n_rows(std::uint32_t i) const { return replicas_[i].n_rows; }
    const CountedTree& tree(std::uint32_t i) const { return replicas_[i].tree; }
    double offset() const { return offset_; }

    void write(ByteWriter& out) const;
    // Into an arm without rows.
    void read(ByteReader& in);

 private:
    struct Replica {
        CountedTree tree;
        std::size_t n_rows = 0;
        std::size_t grown_at = 0;  // so many rows of its own
    };
    // Which work on an arm's rows is due once so many more have come: what comes before the last of
    // its kind would be forgotten.
    struct Plan {
        std::vector<std::size_t> growths;  // of each replica, at so many rows of the arm; 0: none
        std::vector<std::size_t> choices;  // of alpha
    };

    bool grows_beside() const { return settings_.beside > 0 && rows_.n_rows() >= settings_.beside; }
    RowWindow window() const { return settings_.rows_that_count(); }
    std::size_t words() const { return (settings_.n_replicas + 63) / 64; }
    bool takes(std::uint32_t replica, std::size_t row) const {
        return members_[row * words() + replica / 64] >> (replica % 64) & 1;
    }
    // The replicas that take a row in.
    std::vector<std::uint32_t> takers(std::size_t row) const;
    void take_rows(const Matrix& contexts, std::span<const double> rewards);
    void learn_beyond_window(const Matrix& contexts, std::span<const double> rewards);
    Plan plan(std::size_t first, std::size_t n_rows) const;
    void follow(const Plan& plan);
    void catch_up_with_plan(const RowStore& all, const Plan& plan);
    void toss_coins(std::size_t n_rows);
    void count_rows();
    void count_about_offset();
    // In a replica's tree, its own of these rows.
    void count(std::uint32_t replica, std::size_t first, std::size_t end);
    void uncount(std::uint32_t replica, std::size_t first, std::size_t end);
    void read_replica(ByteReader& in, std::uint32_t i);
    void grow_anew(std::uint32_t replica);
    void grow_on(std::uint32_t replica, const std::vector<std::uint32_t>& own);

    HalvedArmSettings settings_;
    Rng coins_;
    RowStore rows_;
    Cells<std::uint64_t> members_;  // a bit per replica, in as many words a row as it takes
    std::vector<Replica> replicas_;
    LeafPrice price_;
    std::size_t first_ = 0;  // number of the first row, of all that the arm has learned
    // The rows from `forgotten_` to `counted_` are counted.
    std::size_t forgotten_ = 0;
    std::size_t counted_ = 0;
    double offset_ = 0;     // about which they were counted
    std::size_t seen_ = 0;  // all that was due while the arm got so many rows has been done
};

}  // namespace banditree
