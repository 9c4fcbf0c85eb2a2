#include "banditree/engines/resampled_arm.hpp"

#include <limits>

namespace banditree {

void ResampledArm::set_kinds(const std::vector<Kind>& kinds) {
    store.set_kinds(kinds);
    exact = Dataset();
}

void ResampledArm::write(ByteWriter& out) const {
    store.write(out);
    out.put(standing.failures);
    out.put<std::uint8_t>(standing.settled);
    out.put(standing.alpha);
    out.put<std::uint64_t>(validated_at);
}

void ResampledArm::read(ByteReader& in) {
    store = RowStore::read(in, max_bins);
    standing.failures = in.get<std::uint32_t>();
    standing.settled = in.flag();
    standing.alpha = in.between(0.0, std::numeric_limits<double>::infinity());
    validated_at = static_cast<std::size_t>(in.get<std::uint64_t>());
}

}  // namespace banditree
