// The Python module gpulog._core: the C++ interface as it is. What is convenient is in Python, beside it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "functors.hpp"
#include "gpulog/engine.hpp"
#include "streams.hpp"
#include "values.hpp"

namespace gpulog_python {
namespace {

using namespace std::chrono_literals;

/// How often a run looks for signals, and tells its progress.
constexpr auto between_looks = 50ms;

/// Threads for an engine of this process. The workers of a process are not there behind a fork, and what they held
/// stays held: a child of a process with workers has one thread.
unsigned jobs_here(unsigned wanted) {
  static std::atomic<pid_t> process_of_workers = 0;
  if (wanted == 1) return 1;
  pid_t none = 0;
  const pid_t own = getpid();
  if (process_of_workers.compare_exchange_strong(none, own)) return wanted;
  return process_of_workers == own ? wanted : 1;
}

/// Runs that are going on in this process, by what cancels them: an interpreter that ends waits for them.
class running {
 public:
  explicit running(std::atomic<bool>& cancelled) : cancelled_(&cancelled) {
    const std::lock_guard lock(access());
    all().insert(cancelled_);
  }
  ~running() {
    const std::lock_guard lock(access());
    all().erase(cancelled_);
  }
  running(const running&) = delete;
  running& operator=(const running&) = delete;

  /// @return whether there are none
  static bool cancel_all() {
    const std::lock_guard lock(access());
    for (std::atomic<bool>* const one : all()) *one = true;
    return all().empty();
  }

 private:
  static std::mutex& access() {
    static std::mutex only;
    return only;
  }
  static std::set<std::atomic<bool>*>& all() {
    static std::set<std::atomic<bool>*> only;
    return only;
  }
  std::atomic<bool>* cancelled_;
};

void end_all_runs() {
  const nb::gil_scoped_release free;
  for (int looks = 0; looks < 200 && !running::cancel_all(); ++looks) std::this_thread::sleep_for(between_looks);
}

using columns_of_declaration = std::vector<std::tuple<std::string, std::string, std::string>>;

columns_of_declaration columns_of(const std::vector<gpulog::attribute>& attributes) {
  columns_of_declaration result;
  for (const gpulog::attribute& one : attributes) result.emplace_back(one.name, one.type, one.declared_type);
  return result;
}

gpulog::program compile(const std::string& text, bool is_file, const std::string& name,
                        const std::vector<std::string>& include, const std::vector<std::string>& macros,
                        const std::vector<std::pair<std::string, std::string>>& pragmas, unsigned word_size,
                        const std::vector<std::string>& filled) {
  gpulog::compile_options options;
  options.include_directories = include;
  options.macros = macros;
  options.pragmas = pragmas;
  options.word_size = word_size;
  options.filled_relations = filled;
  const nb::gil_scoped_release free;
  return is_file ? gpulog::program::from_file(text, options) : gpulog::program::from_text(text, options, name);
}

/// An engine that several threads of Python may hold: a call that comes while it works is an error.
class guarded_engine {
 public:
  /// @param functors names of those that evaluate is given
  guarded_engine(const gpulog::program& source, gpulog::run_options options, const std::vector<std::string>& functors)
      : engine_([&] {
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

  void load() {
    const in_use mine(*this);
    run([this] { engine_.load(); });
  }

  /// @param progress called with stratum, strata, iteration, tuples and seconds; or None
  /// @param functors by name, each with whether it takes arrays
  void evaluate(const nb::object& progress, const std::map<std::string, std::pair<nb::object, bool>>& functors) {
    const in_use mine(*this);
    const struct called_functions {
      ~called_functions() {
        engine.progress_.reset();
        engine.functors_.clear();
      }
      guarded_engine& engine;
    } called{*this};
    if (!progress.is_none()) progress_ = progress;
    for (const auto& [name, functor] : functors) functors_[name] = {functor.first, functor.second};
    run([this] { engine_.evaluate(); });
  }

  void write() {
    const in_use mine(*this);
    run([this] { engine_.write(); });
  }

  void reset() {
    const in_use mine(*this);
    const nb::gil_scoped_release free;
    engine_.reset();
  }

  void cancel() { cancelled_ = true; }

  std::string statistics() {
    const in_use mine(*this);
    return gpulog::to_json(engine_.figures());
  }

  void insert_stream(const std::string& name, const nb::capsule& rows) {
    const in_use mine(*this);
    gpulog::relation relation = engine_.relation(name);
    ArrowArrayStream& stream = stream_in(rows);
    const nb::gil_scoped_release free;
    relation.insert_arrow(stream);
  }

  void insert_columns(const std::string& name, const std::vector<nb::capsule>& columns) {
    const in_use mine(*this);
    gpulog::relation relation = engine_.relation(name);
    std::vector<ArrowArrayStream*> streams;
    for (const nb::capsule& column : columns) streams.push_back(&stream_in(column));
    const nb::gil_scoped_release free;
    relation.insert_arrow_columns(streams);
  }

  /// Facts of a relation without attributes.
  void insert_nothing(const std::string& name) {
    const in_use mine(*this);
    engine_.relation(name).insert({});
  }

  std::uint64_t size(const std::string& name) {
    const in_use mine(*this);
    return engine_.relation(name).size();
  }

  bool contains(const std::string& name, const nb::tuple& row) {
    const in_use mine(*this);
    const gpulog::relation relation = engine_.relation(name);
    return relation.contains(values_of(relation, row));
  }

  void erase(const std::string& name, const std::vector<nb::tuple>& rows) {
    const in_use mine(*this);
    gpulog::relation relation = engine_.relation(name);
    std::vector<std::vector<gpulog::value>> all;
    for (const nb::tuple& row : rows) all.push_back(values_of(relation, row));
    const nb::gil_scoped_release free;
    for (const std::vector<gpulog::value>& row : all) relation.erase(row);
  }

  nb::capsule stream(const std::string& name, bool dictionaries, bool binary) {
    const in_use mine(*this);
    const new_stream made = make_stream();
    engine_.relation(name).to_arrow(*made.stream, {dictionaries, binary});
    return made.capsule;
  }

  table rows(const std::string& name) {
    const in_use mine(*this);
    return table(engine_.relation(name));
  }

  std::vector<std::pair<std::string, columns_of_declaration>> relations() {
    std::vector<std::pair<std::string, columns_of_declaration>> result;
    for (const gpulog::relation& one : engine_.relations()) {
      result.emplace_back(one.name(), columns_of(one.attributes()));
    }
    return result;
  }

  /// Throws where there is no such relation.
  columns_of_declaration attributes(const std::string& name) { return columns_of(engine_.relation(name).attributes()); }

  [[nodiscard]] std::vector<gpulog::attribute> attributes_of(const std::string& name) {
    return engine_.relation(name).attributes();
  }

  void set_wide(bool is_wide) { is_wide_ = is_wide; }

 private:
  /// A call that uses the engine. @throws gpulog::input_error where another one does, or another process had it
  class in_use {
   public:
    explicit in_use(guarded_engine& engine) : engine_(engine) {
      if (engine.process_ != getpid()) {
        throw gpulog::input_error("this engine is of the process before a fork: make one in this process");
      }
      if (engine.busy_.exchange(true)) {
        throw gpulog::input_error("this engine is at work in another thread: wait for it, or make another engine");
      }
    }
    ~in_use() { engine_.busy_ = false; }
    in_use(const in_use&) = delete;
    in_use& operator=(const in_use&) = delete;

   private:
    guarded_engine& engine_;
  };

  /// Works in a thread of its own, while this one looks for signals: Python's handlers run in the main thread alone.
  template <class Work>
  void run(const Work& work) {
    const running listed(cancelled_);
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
        lock.lock();
      }
      lock.unlock();
      worker.join();
    }
    cancelled_ = false;
    if (raised_) throw nb::python_error(*std::exchange(raised_, std::nullopt));
    if (failure) std::rethrow_exception(failure);
  }

  [[nodiscard]] std::vector<gpulog::value> values_of(const gpulog::relation& relation, const nb::tuple& row) const {
    const std::vector<gpulog::attribute> attributes = relation.attributes();
    std::vector<gpulog::value> values;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string type = c < attributes.size() ? attributes[c].type : "symbol";
      if (type == "record" || type == "adt") {
        throw gpulog::input_error("relation " + relation.name() + " has records: its tuples cannot be looked for");
      }
      if (!add_value(row[c], type, values)) {
        throw gpulog::input_error("relation " + relation.name() + " has no tuple of such types: " + text_of(row));
      }
    }
    return values;
  }

  /// @return whether it is one of the type
  [[nodiscard]] bool add_value(nb::handle given, const std::string& type, std::vector<gpulog::value>& values) const {
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
    } else {
      double number = 0;
      if (read_float(given, number) != reading::done) return false;
      values.push_back(is_wide_ ? gpulog::value(number) : gpulog::value(static_cast<float>(number)));
    }
    return true;
  }

  void look_for_signals() {
    const nb::gil_scoped_acquire held;
    if (PyErr_CheckSignals() == 0) return;
    nb::python_error raised;
    keep(raised);
  }

  /// What Python raised ends the run, and is raised again by the call.
  void keep(nb::python_error& raised) {
    if (!raised_) raised_.emplace(raised);
    cancelled_ = true;
  }

  /// A functor of Python; by any thread of the run.
  void call(const std::string& name, std::span<const gpulog::column_values> arguments,
            const gpulog::result_values& results) {
    const bool has_rows = std::visit([](const auto& made) { return !made.empty(); }, results);
    if (!has_rows) return;
    const nb::gil_scoped_acquire held;
    // One that failed ends the run: the other threads need not go on.
    if (raised_) throw gpulog::cancelled_error("a functor has failed");
    try {
      call_functor(name, functors_.at(name), arguments, results);
    } catch (nb::python_error& raised) {
      keep(raised);
      throw gpulog::evaluation_error("functor @" + name + " has failed");
    }
  }

  void tell(const gpulog::progress& now) {
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

  std::atomic<bool> cancelled_ = false;
  std::atomic<bool> busy_ = false;
  pid_t process_ = getpid();
  bool is_wide_ = false;
  nb::object progress_;
  std::map<std::string, python_functor> functors_;
  std::chrono::steady_clock::time_point told_;
  std::optional<nb::python_error> raised_;
  gpulog::engine engine_;
};

gpulog::backend_kind backend_named(const std::string& name) {
  if (const auto found = gpulog::backend_from_name(name)) return *found;
  throw gpulog::input_error("there is no backend " + name + ": auto, cpu or gpu");
}

gpulog::storage_kind storage_named(const std::string& name) {
  if (const auto found = gpulog::storage_from_name(name)) return *found;
  throw gpulog::input_error("there is no storage " + name + ": auto, hisa, hash, bits or words");
}

}  // namespace
}  // namespace gpulog_python

NB_MODULE(_core, module) {
  using namespace gpulog_python;
  using nb::literals::operator""_a;

  const nb::exception<gpulog::error> base(module, "Error");
  const nb::exception<gpulog::input_error> input(module, "InputError", base);
  const nb::exception<gpulog::output_error> output(module, "OutputError", base);
  const nb::exception<gpulog::evaluation_error> evaluation(module, "EvaluationError", base);
  const nb::exception<gpulog::memory_limit_error> memory(module, "MemoryLimitError", base);
  const nb::exception<gpulog::cancelled_error> cancelled(module, "Cancelled", base);

  module.def("version", &gpulog::version);
  module.def("backends", &gpulog::built_backends);
  module.def("end_all_runs", &end_all_runs);
  module.def("stages", &gpulog::program::stages);
  module.def("stream_of_capsules", &stream_of_capsules);
  module.def("stream_of_array", &stream_of_array);

  nb::class_<gpulog::program>(module, "Program")
      .def_prop_ro("ok", &gpulog::program::ok)
      .def_prop_ro("report", &gpulog::program::report)
      .def_prop_ro("word_size", &gpulog::program::word_size)
      .def("show", [](const gpulog::program& one, const std::string& stage) { return one.show(stage); })
      .def("diagnostics",
           [](const gpulog::program& one) {
             nb::list result;
             for (const gpulog::diagnostic& remark : one.diagnostics()) {
               result.append(nb::make_tuple(remark.level == gpulog::severity::error ? "error" : "warning",
                                            remark.message, remark.file, remark.line, remark.column, remark.text));
             }
             return result;
           })
      .def("relations", [](const gpulog::program& one) {
        nb::list result;
        for (const gpulog::relation_declaration& relation : one.relations()) {
          result.append(
              nb::make_tuple(relation.name, columns_of(relation.attributes), relation.is_input, relation.is_output));
        }
        return result;
      });
  module.def("compile", &compile, "text"_a, "is_file"_a, "name"_a, "include"_a, "macros"_a, "pragmas"_a, "word_size"_a,
             "filled"_a);

  nb::class_<table>(module, "Table")
      .def_prop_ro("rows", &table::rows)
      .def_prop_ro("pieces", &table::pieces)
      .def("fetch", &table::fetch, "first"_a, "count"_a)
      .def("numbers", &table::numbers, "column"_a)
      .def("texts", &table::texts, "column"_a)
      .def("objects", &table::objects, "column"_a);

  nb::class_<guarded_engine>(module, "Engine")
      .def(
          "__init__",
          [](guarded_engine* self, const gpulog::program& source, const std::string& facts, const std::string& output,
             unsigned jobs, const std::string& backend, int device, const std::string& storage,
             std::uint64_t memory_limit, const std::vector<std::string>& functor_libraries,
             const std::vector<std::string>& functor_directories, const std::vector<std::string>& functors,
             const std::map<std::string, std::string>& tuning) {
            gpulog::run_options options;
            options.fact_directory = facts;
            options.output_directory = output;
            options.jobs = jobs_here(jobs);
            options.backend = backend_named(backend);
            options.device = device;
            options.storage = storage_named(storage);
            options.memory_limit = memory_limit;
            options.functor_libraries = functor_libraries;
            options.functor_directories = functor_directories;
            for (const auto& [name, value] : tuning) options.tuning[name] = value;
            new (self) guarded_engine(source, std::move(options), functors);
            self->set_wide(source.word_size() == 64);
          },
          "source"_a, "facts"_a, "output"_a, "jobs"_a, "backend"_a, "device"_a, "storage"_a, "memory_limit"_a,
          "functor_libraries"_a, "functor_directories"_a, "functors"_a, "tuning"_a)
      .def("load", &guarded_engine::load)
      .def("evaluate", &guarded_engine::evaluate, "progress"_a.none(), "functors"_a)
      .def("write", &guarded_engine::write)
      .def("reset", &guarded_engine::reset)
      .def("cancel", &guarded_engine::cancel)
      .def("statistics", &guarded_engine::statistics)
      .def("relations", &guarded_engine::relations)
      .def("attributes", &guarded_engine::attributes, "name"_a)
      .def("insert_stream", &guarded_engine::insert_stream, "name"_a, "rows"_a)
      .def("insert_columns", &guarded_engine::insert_columns, "name"_a, "columns"_a)
      .def("insert_nothing", &guarded_engine::insert_nothing, "name"_a)
      .def("streams_of_rows",
           [](guarded_engine& one, const std::string& name, const nb::object& rows) {
             return streams_of_rows(name, one.attributes_of(name), rows);
           })
      .def("stream_of_values",
           [](guarded_engine& one, const std::string& name, std::size_t column, const nb::object& values) {
             return stream_of_values(name, one.attributes_of(name).at(column), values);
           })
      .def("erase", &guarded_engine::erase, "name"_a, "rows"_a)
      .def("size", &guarded_engine::size, "name"_a)
      .def("contains", &guarded_engine::contains, "name"_a, "row"_a)
      .def("stream", &guarded_engine::stream, "name"_a, "dictionaries"_a, "binary"_a)
      .def("rows", &guarded_engine::rows, "name"_a);
}
