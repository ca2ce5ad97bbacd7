#pragma once

#include <nanobind/nanobind.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "functors.hpp"
#include "gpulog/engine.hpp"
#include "streams.hpp"
#include "structures.hpp"

namespace gpulog_python {

using columns_of_declaration = std::vector<std::tuple<std::string, std::string, std::string, std::string>>;

/// Returns name, type, declared type and structure of each attribute.
[[nodiscard]] columns_of_declaration columns_of(const std::vector<gpulog::attribute>& attributes);

/// Functors by name, each with a flag whether to pass arrays.
using given_functors = std::map<std::string, std::pair<nb::object, bool>>;

/// The rows of a query.
class answer_rows {
 public:
  answer_rows(gpulog::answer rows, std::shared_ptr<const structures> known)
      : rows_(std::move(rows)), known_(std::move(known)) {}
  [[nodiscard]] columns_of_declaration attributes() const { return columns_of(rows_.attributes()); }
  [[nodiscard]] std::uint64_t size() const { return rows_.size(); }
  [[nodiscard]] nb::capsule stream(bool dictionaries, bool binary) const;
  [[nodiscard]] table rows() const;

 private:
  gpulog::answer rows_;
  std::shared_ptr<const structures> known_;
};

/// An engine that several Python threads may share: a call during a running call is an error.
class guarded_engine {
 public:
  /// @param functors names of the functors that evaluate() receives
  guarded_engine(const gpulog::program& source, std::shared_ptr<const structures> known, gpulog::run_options options,
                 const std::vector<std::string>& functors);

  void load();
  /// @param progress called with stratum, strata, iteration, tuples and seconds; or None
  /// @param timeout in seconds; nothing: no limit
  /// @throws TimeoutError of Python
  void evaluate(const nb::object& progress, const given_functors& functors, std::optional<double> timeout);
  /// @throws gpulog::query_error; like evaluate
  answer_rows query(const std::string& body, const given_functors& functors, std::optional<double> timeout);
  void write();
  void save(const std::string& path);
  void restore(const std::string& path);
  /// Returns the tuples that the last evaluation added and removed.
  std::pair<answer_rows, answer_rows> changes(const std::string& name);
  /// Whether take_changes() returns the changes of a relation.
  void on_change(const std::string& name, bool is_on);
  /// Returns relation, added and removed tuples of all evaluations since the last call.
  std::vector<std::tuple<std::string, answer_rows, answer_rows>> take_changes();
  void reset();
  /// Cancels the running call, if any.
  void cancel();
  std::string statistics();
  /// Returns the texts of the warnings about the results.
  nb::list warnings();

  std::optional<gpulog::proof> why(const std::string& tuple, std::size_t depth, const given_functors& functors);
  std::vector<gpulog::failed_rule> why_not(const std::string& tuple, const gpulog::variable_values& given,
                                           const given_functors& functors);

  /// Insert facts, or erase facts.
  void change_stream(const std::string& name, const nb::capsule& rows, bool erases);
  void change_columns(const std::string& name, const std::vector<nb::capsule>& columns, bool erases);
  /// The same for the only fact of a relation without attributes.
  void change_nothing(const std::string& name, bool erases);

  std::uint64_t size(const std::string& name);
  bool contains(const std::string& name, const nb::tuple& row);
  nb::capsule stream(const std::string& name, bool dictionaries, bool binary);
  table rows(const std::string& name);
  /// Returns a column in device memory as an array of the device, or None if the column is in host memory.
  nb::object on_device(const std::string& name, std::size_t column);

  std::vector<std::pair<std::string, columns_of_declaration>> relations();
  /// Throws if no such relation exists.
  std::vector<gpulog::attribute> attributes(const std::string& name) { return engine_.relation(name).attributes(); }
  [[nodiscard]] const structures& known() const { return *known_; }

 private:
  /// Guards a call that uses the engine.
  /// @throws gpulog::input_error if a different call is running, or if the engine belongs to a parent process
  class in_use {
   public:
    explicit in_use(guarded_engine& engine);
    ~in_use();
    in_use(const in_use&) = delete;
    in_use& operator=(const in_use&) = delete;

   private:
    guarded_engine& engine_;
  };

  /// Makes functors callable during the lifetime of this object.
  class callable_functors {
   public:
    callable_functors(guarded_engine& engine, const given_functors& functors);
    ~callable_functors() { engine_.functors_.clear(); }
    callable_functors(const callable_functors&) = delete;
    callable_functors& operator=(const callable_functors&) = delete;

   private:
    guarded_engine& engine_;
  };

  /// Runs `work` in a separate thread and checks for signals in this thread, because Python runs handlers only in the
  /// main thread.
  void run(const std::function<void()>& work, std::optional<double> timeout = std::nullopt);
  void look_for_signals();
  /// Stores a Python exception, which ends the run and is raised again by the call.
  void keep(nb::python_error& raised);
  /// Calls a Python functor, from any thread of the run.
  void call(const std::string& name, std::span<const gpulog::column_values> arguments,
            const gpulog::result_values& results);
  void tell(const gpulog::progress& now);
  [[nodiscard]] std::vector<gpulog::value> values_of(const gpulog::relation& relation, const nb::tuple& row) const;
  /// @return whether the value has the attribute's type
  [[nodiscard]] bool add_value(nb::handle given, const gpulog::attribute& attribute,
                               std::vector<gpulog::value>& values) const;

  std::atomic<bool> cancelled_ = false;
  std::mutex access_;  ///< guards busy_, and cancel() against the start and end of calls
  bool busy_ = false;
  pid_t process_ = getpid();
  bool is_wide_;
  std::shared_ptr<const structures> known_;
  nb::object progress_;
  std::map<std::string, python_functor> functors_;
  std::chrono::steady_clock::time_point told_;
  std::optional<nb::python_error> raised_;
  std::vector<std::pair<std::string, gpulog::changed_rows>> changes_;  ///< for take_changes()
  gpulog::engine engine_;
};

}  // namespace gpulog_python
