#pragma once

#include <cstddef>
#include <memory>

#include "exec/piecewise_stream.hpp"
#include "storage/factorized/factorized_form.hpp"

namespace gpulog::exec {

/// Streams factorized rows piece by piece.
class factorized_stream final : public piecewise_stream {
 public:
  /// @param form must outlive this object
  explicit factorized_stream(const storage::factorized_form& form);

 private:
  [[nodiscard]] std::shared_ptr<const piece> make(std::size_t number) override;

  const storage::factorized_form* form_;
};

}  // namespace gpulog::exec
