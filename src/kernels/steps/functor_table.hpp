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

/// Functors of user libraries, called through the machine's C calling convention (docs/adr/0007-functors.md), and
/// functors registered through the C++ interface.
namespace gpulog::kernels {

/// An error in a functor that ends the run.
class functor_fault : public rule_fault {
 public:
  using rule_fault::rule_fault;
};

/// Returns the reason why a functor with these parameters cannot be called, or an empty text.
[[nodiscard]] std::string why_not_callable(const user_functor& described);

class functor_table {
 public:
  /// @param wide nullptr: words have 32 bits
  functor_table(storage::symbol_table& symbols, storage::record_tables& records, storage::wide_values* wide = nullptr);
  ~functor_table();
  functor_table(const functor_table&) = delete;
  functor_table& operator=(const functor_table&) = delete;

  /// Adds a functor with the next number.
  /// @param function nullptr if no rule calls the functor
  void add(user_functor described, void* function);
  /// Adds a registered functor with the next number.
  /// @param function must outlive the table
  void add(user_functor described, const registered_functor& function);

  /// Stores the functor's value for row i in result[i]. Thread-safe.
  /// @param arguments one array with the functor's number, then one array per parameter
  /// @throws functor_fault, and exceptions of the functor
  void call(const std::vector<const word*>& arguments, std::uint32_t n, word* result) const;

 private:
  struct entry {
    user_functor described;
    void* function = nullptr;
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
