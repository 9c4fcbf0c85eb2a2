#pragma once
#include <cstdlib>
#include <string>
namespace banditree {
inline double knob_value(const char* name, double otherwise) {
    const char* v = std::getenv((std::string("KNOB_") + name).c_str());
    return v ? std::atof(v) : otherwise;
}
#define knob(name, otherwise) ([]{ static const double v = banditree::knob_value(name, otherwise); return v; }())
}
