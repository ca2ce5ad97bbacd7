#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "exec/executor.hpp"
#include "plan/plan.hpp"

/// Decides whether a recursion with restricted relations pays, from the actual number of rows
/// (plan::restriction_watch).
namespace gpulog::exec {

/// The check for a running stratum, which may have no watch.
class magic_sets_check {
 public:
  using row_count = std::function<std::uint64_t(relation_id)>;
  /// Work done so far.
  struct work {
    double joined_share = 0;  ///< share of the rows of the stratum's relations that rules have read
    double candidates = 0;
    double restricted_candidates = 0;  ///< candidates of restricted relations
  };

  magic_sets_check(const plan::program& program, std::size_t number, const options& chosen);

  /// Returns whether all copies that the phase reads are up to date with its iteration, so that they can be compared.
  [[nodiscard]] bool is_due(std::size_t phase) const { return watch_ != nullptr && phase >= first_phase_; }
  [[nodiscard]] bool restricts(relation_id head) const;
  /// @param rows returns the rows of a relation
  /// @return the demanded share of the rows if the stratum should be abandoned
  [[nodiscard]] std::optional<double> too_large_share(const row_count& rows, const work& done) const;

 private:
  [[nodiscard]] bool is_worth_giving_up(const work& done, double share) const;
  [[nodiscard]] std::optional<double> share_of(const plan::watched_restriction& one, const row_count& rows) const;

  const plan::restriction_watch* watch_ = nullptr;
  std::size_t first_phase_ = 0;         ///< first phase of the loop after the phases that extend copies
  std::vector<double> largest_shares_;  ///< by relation of the watch
};

/// Returns whether a stratum should run.
/// @param done statistics of all earlier strata
[[nodiscard]] bool is_to_run(const plan::stratum& stratum, const std::vector<stratum_statistics>& done);

}  // namespace gpulog::exec
