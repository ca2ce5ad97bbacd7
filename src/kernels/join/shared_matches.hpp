#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backend/array.hpp"
#include "kernels/join/pipeline.hpp"
#include "storage/indexes/sorted_run.hpp"

namespace gpulog::kernels {

struct sorted_rows;

/// Origin of the rows of pairs: a run of an index (nullptr: the relation), searched by the segment or by one of its
/// choices, or rows sorted for a window.
struct row_source {
  const storage::sorted_run* run = nullptr;
  const search_choice* choice = nullptr;
  const sorted_rows* sorted = nullptr;
};

/// Copies of a tile's bindings and of the ranges of matching rows, for any worker. Matches are numbered through all
/// bindings, so that workers can divide the matches of a single binding.
struct shared_matches {
  std::size_t segment = 0;  ///< pairs bindings with rows
  row_source source;
  std::uint64_t bindings = 0;            ///< number of bindings
  backend::array<word> carried;          ///< [carried register of the segment][binding]
  backend::array<std::uint64_t> rows;    ///< by binding: the first matching row
  backend::array<std::uint64_t> begins;  ///< by binding: number of its first match; then the number of all matches

  [[nodiscard]] std::uint64_t size() const { return begins[bindings]; }
};

/// Distributes matches over workers.
class match_sharer {
 public:
  /// @param least minimum number of shared matches
  explicit match_sharer(std::uint64_t least) : least_(least) {}
  match_sharer(const match_sharer&) = delete;
  match_sharer& operator=(const match_sharer&) = delete;
  virtual ~match_sharer() = default;

  /// Returns whether a worker leaves this number of matches to all workers.
  [[nodiscard]] bool takes(std::uint64_t matches) const { return matches >= least_ && has_space(); }
  /// Runs the matches later (tile_runner::run_matches). Thread-safe if several workers run.
  virtual void share(shared_matches matches) = 0;

 private:
  /// Returns whether the memory for shared matches is below its limit.
  [[nodiscard]] virtual bool has_space() const = 0;

  std::uint64_t least_;
};

}  // namespace gpulog::kernels
