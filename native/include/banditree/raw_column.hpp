// Values as they arrived, in the narrowest type that holds them all without loss.
#pragma once

#include <cstdint>
#include <variant>
#include <vector>

namespace banditree {

class RawColumn {
 public:
    void push(double value);
    void drop_first(std::size_t n);
    double at(std::size_t row) const;
    std::size_t size() const;
    std::size_t bytes() const;
    bool empty_of_values() const;  // nothing but missing values
    std::vector<double> first(std::size_t n) const;

 private:
    void widen();
    std::variant<std::vector<std::int8_t>, std::vector<std::int16_t>, std::vector<std::int32_t>,
                 std::vector<double>>
        cells_;
};

}  // namespace banditree
