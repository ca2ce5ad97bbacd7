#include <algorithm>
#include <cctype>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "engine/engine_state.hpp"
#include "engine/rows/shown_evaluation.hpp"
#include "gpulog/error.hpp"
#include "gpulog/options.hpp"
#include "gpulog/relation.hpp"
#include "support/ids.hpp"

namespace gpulog {
namespace {

bool is_number(value_kind kind) {
  return kind == value_kind::number || kind == value_kind::unsigned_number || kind == value_kind::floating;
}

/// "cuda" of "CUDA, architectures 80".
std::string vendor() {
  std::string name = built_gpu();
  name.resize(std::min(name.find(','), name.size()));
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return name;
}

}  // namespace

std::optional<device_column> relation::on_device(std::size_t column) const {
  const sema::relation& declared = engine_->analysed().relations[relation_];
  if (column >= declared.attributes.size()) {
    throw input_error("relation " + declared.name + " has no column " + std::to_string(column));
  }
  if (!engine_->has_results() || engine_->wide || !is_number(declared.attributes[column].kind)) return {};
  if (engine_->is_equivalence(relation_)) return {};
  const std::shared_ptr<detail::evaluation>& home = engine_->homes[relation_];
  // Numbers that stand for values have to be replaced, which the host does.
  if (home->numbers && home->numbers->covers(relation_)) return {};
  const auto found = home->executor->device_columns(relation_id(relation_));
  if (!found) return {};
  device_column shown;
  shown.values = found->columns[column];
  shown.rows = size();
  shown.vendor = vendor();
  shown.device = engine_->options.device;
  shown.stream = found->stream;
  shown.owner = std::make_shared<detail::shown_evaluation>(
      detail::shown_evaluation{engine_->shared_from_this(), home, home->shown});
  return shown;
}

}  // namespace gpulog
