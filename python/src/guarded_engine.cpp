#include "guarded_engine.hpp"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <variant>

#include "runs.hpp"
#include "values.hpp"

namespace gpulog_python {
namespace {

/// @param rows a relation or an answer
template <class Rows>
nb::capsule stream_of_rows(const Rows& rows, bool dictionaries, bool binary) {
  const new_stream made = make_stream();
  rows.to_arrow(*made.stream, {dictionaries, binary});
  return made.capsule;
}

template <class Rows>
table table_of_rows(const Rows& rows, const std::shared_ptr<const structures>& known) {
  ArrowArrayStream stream;
  rows.to_arrow(stream, {.dictionaries = true, .binary = true});
  return {rows.attributes(), stream, known};
}

}  // namespace

columns_of_declaration columns_of(const std::vector<gpulog::attribute>& attributes) {
  columns_of_declaration result;
  for (const gpulog::attribute& one : attributes)
    result.emplace_back(one.name, one.type, one.declared_type, one.structure);
  return result;
}

guarded_engine::guarded_engine(const gpulog::program& source, std::shared_ptr<const structures> known,
                               gpulog::run_options options, const std::vector<std::string>& functors)
    : is_wide_(source.word_size() == 64), known_(std::move(known)), engine_([&] {
        for (const std::string& name : functors) {
          options.functors[name] = [this, name](std::span<const gpulog::column_values> arguments,
                                                const gpulog::result_values& results) {
            call(name, arguments, results);
          };
        }
        options.cancelled = &cancelled_;
        options.on_progress = [this](const gpulog::progress& now) { tell(now); };
        const nb::gil_scoped_release free;
        return gpulog::engine(source, options);
      }()) {}

guarded_engine::in_use::in_use(guarded_engine& engine) : engine_(engine) {
  if (engine.process_ != getpid()) {
    throw gpulog::input_error("this engine is of the process before a fork: make one in this process");
  }
  const std::lock_guard lock(engine.access_);
  if (engine.busy_) {
    throw gpulog::input_error("this engine is at work in another thread: wait for it, or make another engine");
  }
  engine.busy_ = true;
}

guarded_engine::in_use::~in_use() {
  const std::lock_guard lock(engine_.access_);
  engine_.busy_ = false;
  engine_.cancelled_ = false;
}

void guarded_engine::cancel() {
  const std::lock_guard lock(access_);
  if (busy_) cancelled_ = true;
}

guarded_engine::callable_functors::callable_functors(guarded_engine& engine, const given_functors& functors)
    : engine_(engine) {
  for (const auto& [name, functor] : functors) engine.functors_[name] = {functor.first, functor.second};
}

// ---- the run --------------------------------------------------------------------------------------------------------

void guarded_engine::load() {
  const in_use mine(*this);
  run([this] { engine_.load(); });
}

void guarded_engine::evaluate(const nb::object& progress, const given_functors& functors,
                              std::optional<double> timeout) {
  const in_use mine(*this);
  const callable_functors callable(*this, functors);
  const struct told_progress {
    ~told_progress() { engine.progress_.reset(); }
    guarded_engine& engine;
  } told{*this};
  if (!progress.is_none()) progress_ = progress;
  run([this] { engine_.evaluate(); }, timeout);
}

answer_rows guarded_engine::query(const std::string& body, const given_functors& functors,
                                  std::optional<double> timeout) {
  const in_use mine(*this);
  const callable_functors callable(*this, functors);
  std::optional<gpulog::answer> found;
  run([&] { found.emplace(engine_.query(body)); }, timeout);
  return {std::move(*found), known_};
}

void guarded_engine::write() {
  const in_use mine(*this);
  run([this] { engine_.write(); });
}

void guarded_engine::save(const std::string& path) {
  const in_use mine(*this);
  run([&] { engine_.save(path); });
}

void guarded_engine::restore(const std::string& path) {
  const in_use mine(*this);
  run([&] { engine_.restore(path); });
}

std::pair<answer_rows, answer_rows> guarded_engine::changes(const std::string& name) {
  const in_use mine(*this);
  std::optional<gpulog::changed_rows> found;
  {
    const nb::gil_scoped_release free;
    found.emplace(engine_.changes(name));
  }
  return {answer_rows(std::move(found->added), known_), answer_rows(std::move(found->removed), known_)};
}

void guarded_engine::on_change(const std::string& name, bool is_on) {
  const in_use mine(*this);
  std::function<void(const gpulog::changed_rows&)> function;
  if (is_on) function = [this, name](const gpulog::changed_rows& rows) { changes_.emplace_back(name, rows); };
  engine_.on_change(name, std::move(function));
}

std::vector<std::tuple<std::string, answer_rows, answer_rows>> guarded_engine::take_changes() {
  const in_use mine(*this);
  std::vector<std::tuple<std::string, answer_rows, answer_rows>> result;
  for (auto& [name, rows] : std::exchange(changes_, {})) {
    result.emplace_back(name, answer_rows(std::move(rows.added), known_), answer_rows(std::move(rows.removed), known_));
  }
  return result;
}

void guarded_engine::reset() {
  const in_use mine(*this);
  const nb::gil_scoped_release free;
  engine_.reset();
}

std::string guarded_engine::statistics() {
  const in_use mine(*this);
  return gpulog::to_json(engine_.figures());
}

nb::list guarded_engine::warnings() {
  const in_use mine(*this);
  nb::list texts;
  for (const gpulog::diagnostic& remark : engine_.warnings()) texts.append(decoded(remark.text));
  return texts;
}

std::optional<gpulog::proof> guarded_engine::why(const std::string& tuple, std::size_t depth,
                                                 const given_functors& functors) {
  const in_use mine(*this);
  const callable_functors callable(*this, functors);
  std::optional<gpulog::proof> found;
  run([&] { found = engine_.why(tuple, depth); });
  return found;
}

std::vector<gpulog::failed_rule> guarded_engine::why_not(const std::string& tuple, const gpulog::variable_values& given,
                                                         const given_functors& functors) {
  const in_use mine(*this);
  const callable_functors callable(*this, functors);
  std::vector<gpulog::failed_rule> found;
  run([&] { found = engine_.why_not(tuple, given); });
  return found;
}

// ---- facts and tuples -----------------------------------------------------------------------------------------------

void guarded_engine::change_stream(const std::string& name, const nb::capsule& rows, bool erases) {
  const in_use mine(*this);
  gpulog::relation relation = engine_.relation(name);
  ArrowArrayStream& stream = stream_in(rows);
  const nb::gil_scoped_release free;
  erases ? relation.erase_arrow(stream) : relation.insert_arrow(stream);
}

void guarded_engine::change_columns(const std::string& name, const std::vector<nb::capsule>& columns, bool erases) {
  const in_use mine(*this);
  gpulog::relation relation = engine_.relation(name);
  std::vector<ArrowArrayStream*> streams;
  for (const nb::capsule& column : columns) streams.push_back(&stream_in(column));
  const nb::gil_scoped_release free;
  erases ? relation.erase_arrow_columns(streams) : relation.insert_arrow_columns(streams);
}

void guarded_engine::change_nothing(const std::string& name, bool erases) {
  const in_use mine(*this);
  gpulog::relation relation = engine_.relation(name);
  erases ? relation.erase({}) : relation.insert({});
}

std::uint64_t guarded_engine::size(const std::string& name) {
  const in_use mine(*this);
  return engine_.relation(name).size();
}

bool guarded_engine::contains(const std::string& name, const nb::tuple& row) {
  const in_use mine(*this);
  const gpulog::relation relation = engine_.relation(name);
  return relation.contains(values_of(relation, row));
}

nb::capsule guarded_engine::stream(const std::string& name, bool dictionaries, bool binary) {
  const in_use mine(*this);
  return stream_of_rows(engine_.relation(name), dictionaries, binary);
}

table guarded_engine::rows(const std::string& name) {
  const in_use mine(*this);
  return table_of_rows(engine_.relation(name), known_);
}

nb::capsule answer_rows::stream(bool dictionaries, bool binary) const {
  return stream_of_rows(rows_, dictionaries, binary);
}

table answer_rows::rows() const { return table_of_rows(rows_, known_); }

nb::object guarded_engine::on_device(const std::string& name, std::size_t column) {
  const in_use mine(*this);
  const gpulog::relation relation = engine_.relation(name);
  const auto found = relation.on_device(column);
  if (!found) return nb::none();
  const int kind = found->vendor == "cuda"  ? nb::device::cuda::value
                   : found->vendor == "hip" ? nb::device::rocm::value
                                            : emulated_device;
  const std::string type = relation.attributes()[column].type;
  const nb::dlpack::dtype dtype = type == "number"     ? nb::dtype<std::int32_t>()
                                  : type == "unsigned" ? nb::dtype<std::uint32_t>()
                                                       : nb::dtype<float>();
  auto kept = std::make_unique<std::shared_ptr<const void>>(found->owner);
  const nb::capsule keeper(kept.release(),
                           [](void* one) noexcept { delete static_cast<std::shared_ptr<const void>*>(one); });
  const std::size_t shape[] = {static_cast<std::size_t>(found->rows)};
  return nb::cast(
      nb::ndarray<nb::array_api, nb::ro>(found->values, 1, shape, keeper, nullptr, dtype, kind, found->device));
}

std::vector<std::pair<std::string, columns_of_declaration>> guarded_engine::relations() {
  std::vector<std::pair<std::string, columns_of_declaration>> result;
  for (const gpulog::relation& one : engine_.relations()) {
    result.emplace_back(one.name(), columns_of(one.attributes()));
  }
  return result;
}

std::vector<gpulog::value> guarded_engine::values_of(const gpulog::relation& relation, const nb::tuple& row) const {
  const std::vector<gpulog::attribute> attributes = relation.attributes();
  std::vector<gpulog::value> values;
  for (std::size_t c = 0; c < row.size(); ++c) {
    if (c == attributes.size()) {
      throw gpulog::input_error("relation " + relation.name() + " has " + std::to_string(c) + " attributes, but " +
                                std::to_string(row.size()) + " values were given");
    }
    if (!add_value(row[c], attributes[c], values)) {
      throw gpulog::input_error("relation " + relation.name() + " has no tuple of such types: " + text_of(row));
    }
  }
  return values;
}

bool guarded_engine::add_value(nb::handle given, const gpulog::attribute& attribute,
                               std::vector<gpulog::value>& values) const {
  const std::string& type = attribute.type;
  if (type == "number") {
    std::int64_t number = 0;
    if (read_number(given, number) != reading::done) return false;
    values.emplace_back(number);
  } else if (type == "unsigned") {
    std::uint64_t number = 0;
    if (read_unsigned(given, number) != reading::done) return false;
    values.emplace_back(number);
  } else if (type == "symbol") {
    std::string text;
    if (read_text(given, text) != reading::done) return false;
    values.emplace_back(std::move(text));
  } else if (!attribute.structure.empty()) {
    std::string text;
    const bool is_text = PyUnicode_Check(given.ptr()) || PyBytes_Check(given.ptr());
    const reading how = is_text ? read_text(given, text) : known_->append_text(given, attribute.structure, text);
    if (how != reading::done) return false;
    values.emplace_back(std::move(text));
  } else {
    double number = 0;
    if (read_float(given, number) != reading::done) return false;
    values.push_back(is_wide_ ? gpulog::value(number) : gpulog::value(static_cast<float>(number)));
  }
  return true;
}

// ---- the thread that works ------------------------------------------------------------------------------------------

void guarded_engine::run(const std::function<void()>& work, std::optional<double> timeout) {
  using seconds = std::chrono::duration<double>;
  const auto begin = std::chrono::steady_clock::now();
  const auto is_late = [&] { return timeout && seconds(std::chrono::steady_clock::now() - begin).count() >= *timeout; };
  const going_on listed(cancelled_);
  std::exception_ptr failure;
  bool is_done = false;
  std::mutex access;
  std::condition_variable changed;
  {
    const nb::gil_scoped_release free;
    std::thread worker([&] {
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(access);
      is_done = true;
      changed.notify_all();
    });
    std::unique_lock lock(access);
    while (!changed.wait_for(lock, between_looks, [&] { return is_done; })) {
      lock.unlock();
      look_for_signals();
      if (is_late()) cancelled_ = true;
      lock.lock();
    }
    lock.unlock();
    worker.join();
  }
  if (raised_) throw nb::python_error(*std::exchange(raised_, std::nullopt));
  if (!failure) return;
  try {
    std::rethrow_exception(failure);
  } catch (const gpulog::cancelled_error&) {
    if (!is_late()) throw;
    PyErr_SetString(PyExc_TimeoutError, "The evaluation was cancelled after its timeout; the engine needs a reset()");
    throw nb::python_error();
  }
}

void guarded_engine::look_for_signals() {
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() == 0) return;
  nb::python_error raised;
  keep(raised);
}

void guarded_engine::keep(nb::python_error& raised) {
  if (!raised_) raised_.emplace(raised);
  cancelled_ = true;
}

void guarded_engine::call(const std::string& name, std::span<const gpulog::column_values> arguments,
                          const gpulog::result_values& results) {
  const bool has_rows = std::visit([](const auto& made) { return !made.empty(); }, results);
  if (!has_rows) return;
  const nb::gil_scoped_acquire held;
  // A failed functor ends the run, so the remaining threads can stop.
  if (raised_) throw gpulog::cancelled_error("a functor has failed");
  try {
    call_functor(name, functors_.at(name), arguments, results);
  } catch (nb::python_error& raised) {
    keep(raised);
    throw gpulog::evaluation_error("functor @" + name + " has failed");
  }
}

void guarded_engine::tell(const gpulog::progress& now) {
  const auto time = std::chrono::steady_clock::now();
  if (!progress_.is_valid() || time - told_ < between_looks) return;
  told_ = time;
  const nb::gil_scoped_acquire held;
  try {
    progress_(now.stratum, now.stratum_count, now.iteration, now.tuples, now.seconds);
  } catch (nb::python_error& raised) {
    keep(raised);
  }
}

}  // namespace gpulog_python
