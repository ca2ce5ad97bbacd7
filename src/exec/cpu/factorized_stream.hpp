#pragma once

#include <cstddef>
#include <memory>

#include "exec/piecewise_stream.hpp"
#include "storage/factorized/factorized_values.hpp"

namespace gpulog::exec {

/// Factorized rows, strip by strip.
class factorized_stream final : public piecewise_stream {
 public:
  /// The values outlive it.
  factorized_stream(backend::memory_resource& resource, const storage::factorized_values& values);

 private:
  [[nodiscard]] std::shared_ptr<const piece> make(std::size_t number) override;

  backend::memory_resource* resource_;
  const storage::factorized_values* values_;
};

}  // namespace gpulog::exec
