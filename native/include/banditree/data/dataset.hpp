// Encoded training data: every feature as small integer codes, which is all that growing a tree
// looks at.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "banditree/data/cells.hpp"

namespace banditree {

enum class Kind : std::uint8_t { number, category };

// A column of codes in the narrowest of three widths; it widens by itself.
class CodeColumn {
 public:
    void push(std::uint32_t code);
    void drop_first(std::size_t n) {
        std::visit([n](auto& cells) { cells.drop_first(n); }, cells_);
    }
    void keep_first(std::size_t n) {
        std::visit([n](auto& cells) { cells.keep_first(n); }, cells_);
    }
    void adopt(std::span<const std::uint8_t> codes) { cells_ = Cells<std::uint8_t>(codes); }
    void assign(std::span<const std::uint32_t> codes, std::uint32_t largest);
    // The code of a row is that of its slot.
    void assign(std::span<const std::uint32_t> slots, std::span<const std::uint32_t> code_of,
                std::uint32_t largest);
    // How many of the first rows have the code.
    std::size_t count(std::uint32_t code, std::size_t n_first) const;
    // Sets the bit in the words of the rows that have the code.
    void set_bits(std::uint32_t code, std::uint32_t bit, std::vector<std::uint64_t>& words) const;
    // So that appending to many columns does not move them all at once.
    void leave_room() {
        std::visit([](auto& cells) { cells.reserve(tight_capacity(cells.size())); }, cells_);
    }
    std::uint32_t at(std::size_t row) const;
    std::size_t bytes() const;
    const auto& cells() const { return cells_; }

 private:
    void widen_for(std::uint32_t code);
    std::variant<Cells<std::uint8_t>, Cells<std::uint16_t>, Cells<std::uint32_t>> cells_;
};

// Code 0 means missing. Codes 1..n_codes are a number's bins in ascending order, or category ids
// plus one.
struct Feature {
    Kind kind = Kind::number;
    std::uint32_t n_codes = 0;
    CodeColumn codes;
    bool binned = false;
    // Exact: values[c - 1] is the value of code c. Binned: edges, values[c - 1] parts codes c and c
    // + 1.
    std::vector<double> values;

    std::uint32_t code_of(double value) const;  // for binned numbers and categories
    // Appends the code of a value, and returns it.
    std::uint32_t push(double value);
    // A value that has the code: of a bin, its upper edge or, in the last, the number above the
    // last edge.
    double value_of(std::uint32_t code) const;
    // The threshold of a split whose sides are codes <= below and codes >= above.
    double threshold(std::uint32_t below, std::uint32_t above) const;
};

// Features of two codes and no missing value as bits of one word a row: up to 64 of them are summed
// in one pass, at the cost of the bits that are set. One-hot columns, of which one in many is set,
// become almost free.
class Flags {
 public:
    static constexpr std::int32_t kNone = -1;
    struct Block {
        Cells<std::uint64_t> words;
        std::vector<std::uint32_t> features;  // of each bit
    };

    // The features that are of two codes in the first rows, and of these none that later rows give
    // up: the same as built from the first rows, then pushing the others.
    void build(const std::vector<Feature>& features, std::size_t n_first, std::size_t n_rows);
    // After the features have got one more row: adds it, and gives up features that are no longer
    // of two codes.
    void push(const std::vector<Feature>& features, std::span<const std::uint32_t> codes);
    void drop_first(std::size_t n) {
        for (Block& block : blocks_) block.words.drop_first(n);
    }
    void leave_room() {
        for (Block& block : blocks_) block.words.reserve(tight_capacity(block.words.size()));
    }
    // Bit number of a feature (64 a block), or kNone.
    std::int32_t bit_of(std::uint32_t feature) const {
        return feature < bit_of_.size() ? bit_of_[feature] : kNone;
    }
    std::uint32_t set_code(std::uint32_t feature) const { return set_code_[feature]; }
    const std::vector<Block>& blocks() const { return blocks_; }
    std::size_t bytes() const;

 private:
    std::vector<Block> blocks_;
    std::vector<std::int32_t> bit_of_;
    std::vector<std::uint32_t>
        set_code_;  // the code that sets the bit: the rarer one when the flags were built
};

struct Dataset {
    std::vector<Feature> features;
    Flags flags;
    Cells<double> y;        // reward minus offset
    std::vector<double> w;  // empty: all weights are 1
    bool binary = true;     // every y, offset taken off, is 0 or 1
    double offset = 0;  // the number in [min y, max y] nearest to 0: keeps sums of squares accurate

    std::size_t n_rows() const { return y.size(); }
    void push_reward(double reward);
    void drop_first(std::size_t n) {
        for (Feature& feature : features) feature.codes.drop_first(n);
        flags.drop_first(n);
        y.drop_first(n);
        if (!w.empty()) banditree::drop_first(w, n);
    }
    double weight(std::size_t row) const { return w.empty() ? 1.0 : w[row]; }
    std::size_t bytes() const;
};

// Rows as they arrive: n x m values in C order, NaN for missing, category ids for categories.
struct Matrix {
    const double* data = nullptr;
    std::size_t rows = 0;
    std::size_t columns = 0;
    double at(std::size_t row, std::size_t column) const { return data[row * columns + column]; }
};

// Largest category id plus one, and largest magnitude of a reward or a weight: beyond, sums of
// cubes overflow.
inline constexpr double kMaxCategories = 1 << 24;
inline constexpr double kLargest = 1e30;

double offset_of(double smallest, double largest);
// Mid-point of two neighbouring values; the lower one where rounding leaves nothing between them.
double midpoint_below(double low, double high);
// Edges of at most max_bins bins of about equal count (docs/trees.md), from sorted distinct values
// and their counts.
std::vector<double> bin_edges(std::span<const double> values, std::span<const std::uint32_t> counts,
                              std::uint32_t max_bins);

// How to turn columns of values into features.
struct Encoding {
    std::vector<Kind> kinds;
    std::uint32_t max_bins = 0;  // 0: exact
    std::vector<std::vector<double>>
        given_edges;  // if not empty: one list a feature, used instead of quantiles
};

Feature encode_column(std::span<const double> column, Kind kind, std::uint32_t max_bins);
Feature encode_column_on(std::span<const double> column, std::vector<double> edges);
// Encodes the rows of positive weight; weights may be empty.
Dataset encode(const Matrix& matrix, std::span<const double> y, std::span<const double> w,
               const Encoding& encoding);

}  // namespace banditree
