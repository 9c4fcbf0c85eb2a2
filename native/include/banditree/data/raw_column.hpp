// Values as they arrived, in the narrowest type that holds them all without loss.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

#include "banditree/data/cells.hpp"
#include "banditree/data/dataset.hpp"
#include "banditree/state.hpp"

namespace banditree {

class RawColumn {
 public:
    void push(double value);
    void drop_first(std::size_t n);
    void keep_first(std::size_t n);
    double at(std::size_t row) const;
    std::size_t size() const;
    std::size_t bytes() const;
    bool empty_of_values() const;  // nothing but missing values
    std::vector<double> first(std::size_t n) const;

    // What there is in a column.
    struct Range {
        double lowest;  // above `highest` if all values are missing
        double highest;
        bool some_missing;
        bool whole;  // no value has a fraction
    };
    Range range() const;
    // Whether a feature of this kind can have the values.
    bool suits(Kind kind) const;
    // What encode_column_on makes of its values.
    Feature encode_on(std::vector<double> edges) const;
    void write(ByteWriter& out) const;
    static RawColumn read(ByteReader& in);

 private:
    void widen();
    std::variant<Cells<std::int8_t>, Cells<std::int16_t>, Cells<std::int32_t>, Cells<double>>
        cells_;
};

void write_kinds(ByteWriter& out, const std::vector<Kind>& kinds);
std::vector<Kind> read_kinds(ByteReader& in);

}  // namespace banditree
