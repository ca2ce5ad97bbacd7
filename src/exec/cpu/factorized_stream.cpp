#include "exec/cpu/factorized_stream.hpp"

namespace gpulog::exec {

namespace {

class strip final : public piecewise_stream::piece {
 public:
  strip(backend::memory_resource& resource, const storage::factorized_values& values, std::uint32_t number)
      : values_(values), reader_(resource, *values.graph) {
    reader_.make(number);
    reader_.prepare(values);
  }
  void write(std::uint64_t first, std::uint64_t n, word* const* columns) const override {
    reader_.write(values_, first, n, columns);
  }

 private:
  const storage::factorized_values& values_;
  storage::strip_reader reader_;
};

}  // namespace

factorized_stream::factorized_stream(backend::memory_resource& resource, const storage::factorized_values& values)
    : piecewise_stream(values.rows_in_front.data(), values.graph->strips(),
                       values.source_columns.size() + values.value_columns.size()),
      resource_(&resource),
      values_(&values) {}

std::shared_ptr<const piecewise_stream::piece> factorized_stream::make(std::size_t number) {
  return std::make_shared<strip>(*resource_, *values_, static_cast<std::uint32_t>(number));
}

}  // namespace gpulog::exec
