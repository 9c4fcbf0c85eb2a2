#pragma once

namespace banditree {

// Natural logarithm and exponential made of + - * / and bit operations only.
//
// IEEE 754 fixes those operations but not log and exp, so C libraries differ in the last bit, and
// one such bit can change a random draw and with it a decision. These two give the same bits on
// every platform with IEEE double arithmetic, provided the compiler neither fuses nor reorders
// operations (-ffp-contract=off, no fast-math). Both are within 1 ulp of the true value, subnormal
// arguments and results included.

// log(0) is -inf, log(inf) is inf, a negative argument or NaN gives NaN.
double portable_log(double x);

// Overflows to inf above 709.78 and underflows to 0 below -745.13; NaN gives NaN.
double portable_exp(double x);

}  // namespace banditree
