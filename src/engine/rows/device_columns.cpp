#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine_state.hpp"
#include "engine/rows/shown_rows.hpp"
#include "gpulog/arrow.hpp"
#include "gpulog/error.hpp"
#include "gpulog/options.hpp"
#include "gpulog/relation.hpp"
#include "support/ids.hpp"
#if defined(GPULOG_WITH_GPU)
#include "exec/gpu/gpu_executor.hpp"
#include "support/long_vector.hpp"
#endif

namespace gpulog {
namespace {

bool is_number(value_kind kind) {
  return kind == value_kind::number || kind == value_kind::unsigned_number || kind == value_kind::floating;
}

/// Returns the vendor of this build's devices, for example "cuda" for "CUDA, architectures 80".
std::string vendor() {
  std::string name = built_gpu();
  name.resize(std::min(name.find(','), name.size()));
  for (char& letter : name) letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  return name;
}

/// Arrow formats of numbers.
const std::string device_formats = "the formats c, C, s, S, i, I, l, L, f or g";

/// Returns the bytes per value.
/// @throws input_error for formats that are not numbers
std::uint64_t bytes_of(const std::string& format) {
  const auto is_one_of = [&](std::string_view formats) {
    return format.size() == 1 && formats.find(format[0]) != std::string_view::npos;
  };
  if (is_one_of("cC")) return 1;
  if (is_one_of("sS")) return 2;
  if (is_one_of("iIf")) return 4;
  if (is_one_of("lLg")) return 8;
  throw input_error("a column of a device has numbers of " + device_formats + ", not " + format);
}

/// A column copied to the host, as a stream of one Arrow array.
class host_copy {
 public:
  explicit host_copy(const device_column& column)
      : format_(column.format),
        rows_(column.rows),
        bytes_(std::make_unique<std::byte[]>(memory_size(column.rows * bytes_of(column.format)))) {
    copy_to_host(column, bytes_.get());
    stream_.get_schema = [](ArrowArrayStream* stream, ArrowSchema* made) {
      *made = {};
      made->format = of(stream).format_.c_str();
      made->name = "";
      made->release = [](ArrowSchema* schema) { schema->release = nullptr; };
      return 0;
    };
    stream_.get_next = [](ArrowArrayStream* stream, ArrowArray* made) {
      host_copy& copy = of(stream);
      *made = {};
      if (std::exchange(copy.is_read_, true)) return 0;
      made->length = static_cast<std::int64_t>(copy.rows_);
      made->n_buffers = 2;
      made->buffers = copy.buffers_;
      made->release = [](ArrowArray* array) { array->release = nullptr; };
      return 0;
    };
    stream_.get_last_error = [](ArrowArrayStream*) { return ""; };
    stream_.private_data = this;
    buffers_[1] = bytes_.get();
  }
  host_copy(const host_copy&) = delete;
  host_copy& operator=(const host_copy&) = delete;
  ~host_copy() = default;

  [[nodiscard]] ArrowArrayStream& stream() { return stream_; }

 private:
  static host_copy& of(ArrowArrayStream* stream) { return *static_cast<host_copy*>(stream->private_data); }

  std::string format_;
  std::uint64_t rows_;
  std::unique_ptr<std::byte[]> bytes_;
  const void* buffers_[2] = {nullptr, nullptr};
  bool is_read_ = false;
  ArrowArrayStream stream_{};
};

}  // namespace

void copy_to_host(const device_column& column, void* into) {
  const std::uint64_t bytes = column.rows * bytes_of(column.format);
  if (column.vendor != vendor()) {
    throw input_error("an array is in the memory of a device of " + column.vendor +
                      ", and this build is for none of those: copy it to the host");
  }
#if defined(GPULOG_WITH_GPU)
  const std::string problem = exec::copy_from_gpu(column.device, column.stream, into, column.values, bytes);
  if (!problem.empty()) throw input_error("an array cannot be read from its device: " + problem);
#else
  (void)into;
  (void)bytes;
#endif
}

void relation::insert_device_columns(std::span<const device_column> columns) {
  std::vector<std::unique_ptr<host_copy>> copies;
  std::vector<ArrowArrayStream*> streams;
  for (const device_column& one : columns) {
    copies.push_back(std::make_unique<host_copy>(one));
    streams.push_back(&copies.back()->stream());
  }
  insert_arrow_columns(streams);
}

std::optional<device_column> relation::on_device(std::size_t column) const {
  const sema::relation& declared = engine_->run().relation(relation_);
  if (column >= declared.attributes.size()) {
    throw input_error("relation " + declared.name + " has no column " + std::to_string(column));
  }
  const detail::run_context& run = engine_->run();
  if (!engine_->results().has_results_of(relation_) || run.values.wide || run.is_equivalence(relation_) ||
      !is_number(declared.attributes[column].kind)) {
    return {};
  }
  const std::shared_ptr<detail::evaluation> home = engine_->results().home(relation_);
  // Encoded values must be decoded, which only the host supports.
  if (home->encoding_of(relation_) != nullptr) return {};
  const auto found = home->executor().device_columns(relation_id(relation_));
  if (!found) return {};
  device_column shown;
  shown.values = found->columns[column];
  shown.rows = size();
  const value_kind kind = declared.attributes[column].kind;
  shown.format = kind == value_kind::number ? "i" : kind == value_kind::unsigned_number ? "I" : "f";
  shown.vendor = vendor();
  shown.device = run.options.device;
  shown.stream = found->stream;
  shown.owner = std::make_shared<detail::shown_evaluation>(
      detail::shown_evaluation{engine_->shared_from_this(), home, home->shown()});
  return shown;
}

}  // namespace gpulog
