#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "exec/executor.hpp"
#include "storage/factorized/factorized_values.hpp"

namespace gpulog::exec {

/// Factorized rows piece by piece: of the strips, only those are made at a time that are being read.
class factorized_stream final : public row_stream {
 public:
  /// The values outlive it.
  factorized_stream(backend::memory_resource& resource, const storage::factorized_values& values);
  /// @throws backend::memory_exceeded
  void read(std::uint64_t first, std::uint64_t n, word* const* columns) override;

 private:
  struct open_strip {
    std::mutex making;
    std::shared_ptr<storage::strip_reader> reader;  // nullptr: not made yet, or read to its end
    std::uint64_t left = 0;                         // rows that are to be read
  };

  [[nodiscard]] std::shared_ptr<storage::strip_reader> reader_of(std::uint32_t strip);
  void finish(std::uint32_t strip, std::uint64_t rows);

  backend::memory_resource* resource_;
  const storage::factorized_values* values_;
  std::vector<open_strip> strips_;
};

}  // namespace gpulog::exec
