#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "exec/executor.hpp"
#include "plan/plan.hpp"

/// Whether a recursion with restricted relations is worth while, by the rows that there are (plan::restriction_watch).
namespace gpulog::exec {

/// Of a stratum that is running; it may have no watch.
class magic_sets_check {
 public:
  using row_count = std::function<std::uint64_t(relation_id)>;
  /// What has been done so far.
  struct work {
    double joined_share = 0;  ///< of the rows of the stratum's relations, those that rules have read
    double candidates = 0;
    double restricted_candidates = 0;  ///< of them, those of restricted relations
  };

  magic_sets_check(const plan::program& program, std::size_t number, const options& chosen);

  /// Whether all copies that the phase reads have what its iteration brings, so that they can be compared.
  [[nodiscard]] bool is_due(std::size_t phase) const { return watch_ != nullptr && phase >= first_phase_; }
  [[nodiscard]] bool restricts(relation_id head) const;
  /// @param rows of a relation
  /// @return which share of the rows is asked for, if the stratum is to be given up
  [[nodiscard]] std::optional<double> too_large_share(const row_count& rows, const work& done) const;

 private:
  [[nodiscard]] bool is_worth_giving_up(const work& done, double share) const;
  [[nodiscard]] std::optional<double> share_of(const plan::watched_restriction& one, const row_count& rows) const;

  const plan::restriction_watch* watch_ = nullptr;
  std::size_t first_phase_ = 0;         ///< of the loop, behind those that extend copies
  std::vector<double> largest_shares_;  ///< by relation of the watch
};

/// Whether a stratum is to be run. @param done figures of all strata before it
[[nodiscard]] bool is_to_run(const plan::stratum& stratum, const std::vector<stratum_statistics>& done);

}  // namespace gpulog::exec
