#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpulog/registered_functor.hpp"
#include "kernels/steps/rule_fault.hpp"
#include "storage/records/record_table.hpp"
#include "storage/symbols/symbol_table.hpp"
#include "storage/symbols/wide_values.hpp"
#include "support/value_types.hpp"

/// Functors of a user's libraries, called through the C calling convention of this machine (docs/adr/0007-functors.md),
/// and those that the caller of the library has.
namespace gpulog::kernels {

/// A functor did something that a run cannot go on after.
class functor_fault : public rule_fault {
 public:
  using rule_fault::rule_fault;
};

/// Why functors with such parameters cannot be called; empty when they can.
[[nodiscard]] std::string why_not_callable(const user_functor& described);

class functor_table {
 public:
  /// @param wide nullptr: words have 32 bits
  functor_table(storage::symbol_table& symbols, storage::record_tables& records, storage::wide_values* wide = nullptr);
  ~functor_table();
  functor_table(const functor_table&) = delete;
  functor_table& operator=(const functor_table&) = delete;

  /// The next number. @param function nullptr where there is none @param missing then what a call says
  void add(user_functor described, void* function, std::string missing = {});
  /// The next number. @param function outlives the table
  void add(user_functor described, const registered_functor& function);

  /// result[i] = the functor's value. arguments: one array a parameter, behind the one that holds the functor's number.
  /// Any number of threads at a time. @throws functor_fault, and what a functor throws
  void call(const std::vector<const word*>& arguments, std::uint32_t n, word* result) const;

 private:
  struct entry {
    user_functor described;
    void* function = nullptr;
    std::string missing = {};
    const registered_functor* registered = nullptr;
  };
  template <class Domain>
  struct tables_of;
  struct tables;

  template <class Word>
  void call_plain(const entry& functor, const std::vector<const word*>& arguments, std::uint32_t n, word* result) const;
  template <class Tables>
  void call_stateful(const entry& functor, Tables& seen, const std::vector<const word*>& arguments, std::uint32_t n,
                     word* result) const;

  storage::symbol_table* symbols_;
  storage::wide_values* wide_;
  std::unique_ptr<tables> tables_;  ///< as stateful functors see them
  std::vector<entry> functors_;
};

}  // namespace gpulog::kernels
