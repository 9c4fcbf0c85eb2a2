#include "banditree/ensemble/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace banditree {

void Ensemble::set_kinds(const std::vector<Kind>& kinds) {
    rows_.set_kinds(kinds);
    beliefs_.set_kinds(kinds);
}

void Ensemble::learn(std::uint32_t arm, std::span<const double> context, double reward) {
    beliefs_.learn(arm, context.data(), reward, rows_.n_learned());
    rows_.append(arm, context.data(), reward);
    if (is_due()) fit();
}

void Ensemble::learn_many(ArmIndices arms, const Matrix& contexts,
                          std::span<const double> rewards) {
    for (std::size_t i = 0; i < rewards.size(); ++i)
        learn(static_cast<std::uint32_t>(arms[i]),
              {contexts.data + i * contexts.columns, contexts.columns}, rewards[i]);
}

void Ensemble::keep_last(std::span<const std::int64_t> counts) {
    rows_.keep_last(counts);
    beliefs_ = beliefs_.without_members(rows_);
    fitted_at_ = rows_.n_learned();
    if (rows_.size() > 0 && beliefs_.have_unit()) fit();
}

// As soon as rewards differ, and each time rows have grown by a share; with a full window, each
// time such a share of it is new.
bool Ensemble::is_due() const {
    if (!beliefs_.members().are_fitted()) return beliefs_.have_unit();
    auto fitted = static_cast<double>(fitted_at_);
    if (settings_.window > 0)
        fitted = std::min(fitted, static_cast<double>(settings_.window * n_arms()));
    const auto since = static_cast<double>(rows_.n_learned() - fitted_at_);
    return since >= fitted * settings_.refresh + 1;
}

void Ensemble::fit() {
    fitted_at_ = rows_.n_learned();
    const auto n_arms = static_cast<std::uint32_t>(this->n_arms());
    std::size_t share = std::max<std::size_t>(rows_.fair_share(settings_.most_rows, n_arms), 1);
    if (settings_.window > 0) share = std::min(share, settings_.window);
    const std::vector<std::int64_t> most(n_arms, static_cast<std::int64_t>(share));
    rows_.keep_last(most);
    const Rng rng = Rng(settings_.seed).child(fitted_at_);
    beliefs_.adopt(Members::fit(rows_, beliefs_.starts(), beliefs_.scale(), beliefs_.members(),
                                settings_.members, rng),
                   rows_);
}

void Ensemble::write(ByteWriter& out) const {
    beliefs_.write(out);
    rows_.write(out);
    out.put(fitted_at_);
}

void Ensemble::read(ByteReader& in) {
    EnsembleBeliefs beliefs = EnsembleBeliefs::read(in);
    SharedRows rows = SharedRows::read(in, static_cast<std::uint32_t>(beliefs.n_arms()));
    const auto fitted_at = in.between<std::uint64_t>(0, rows.n_learned());
    in.finish();
    ByteReader::require(beliefs.is_binary() == settings_.binary);
    ByteReader::require(beliefs.kinds() == rows.kinds());
    ByteReader::require(beliefs.members().are_fitted() == (rows.size() > 0 && beliefs.have_unit()));
    beliefs_ = std::move(beliefs);
    rows_ = std::move(rows);
    fitted_at_ = fitted_at;
}

}  // namespace banditree
