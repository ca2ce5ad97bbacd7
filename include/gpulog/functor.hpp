#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>

/// The interface for stateful functors of user libraries: access to the symbols and records of the running program.
///
///   .functor f(x:symbol):symbol stateful
///   extern "C" souffle::RamDomain f(souffle::SymbolTable*, souffle::RecordTable*, souffle::RamDomain x);
///
/// Every value is a word: a number, the bits of an unsigned number or a float, or the number of a symbol or record. The
/// classes, their names and the order of their virtual functions match the headers of Soufflé 2.4 and 2.5, so libraries
/// compiled with Soufflé's headers (same word size, same C++ library) and libraries compiled with this header are
/// called in the same way. Several threads may call a functor at the same time.
///
/// A stateless functor needs no header: its parameters and its result are std::int32_t (number), std::uint32_t
/// (unsigned), float and const char* (symbol; the caller copies a result).
///
/// For 64-bit programs (--word-size 64), compile functors with RAM_DOMAIN_SIZE defined as 64, as with Soufflé: the
/// types are then std::int64_t, std::uint64_t and double.
// NOLINTBEGIN(readability-identifier-naming)
namespace souffle {

#if defined(RAM_DOMAIN_SIZE) && RAM_DOMAIN_SIZE == 64
using RamDomain = std::int64_t;
using RamSigned = std::int64_t;
using RamUnsigned = std::uint64_t;
using RamFloat = double;
#else
using RamDomain = std::int32_t;
using RamSigned = std::int32_t;
using RamUnsigned = std::uint32_t;
using RamFloat = float;
#endif

/// A position in the symbol table.
class SymbolTableIteratorInterface {
 public:
  virtual ~SymbolTableIteratorInterface() = default;
  [[nodiscard]] virtual const std::pair<const std::string, const std::size_t>& get() const = 0;
  virtual bool equals(const SymbolTableIteratorInterface& other) = 0;
  virtual SymbolTableIteratorInterface& incr() = 0;
  [[nodiscard]] virtual std::unique_ptr<SymbolTableIteratorInterface> copy() const = 0;
};

/// The texts of a program and their numbers.
template <class Domain>
class BasicSymbolTable {
 public:
  class Iterator {
   public:
    using value_type = const std::pair<const std::string, const std::size_t>;

    explicit Iterator(std::unique_ptr<SymbolTableIteratorInterface> place) : place_(std::move(place)) {}
    Iterator(const Iterator& other) : place_(other.place_->copy()) {}
    Iterator(Iterator&& other) noexcept = default;
    Iterator& operator=(const Iterator&) = delete;
    Iterator& operator=(Iterator&&) = delete;
    ~Iterator() = default;

    value_type& operator*() const { return place_->get(); }
    value_type* operator->() const { return &place_->get(); }
    Iterator& operator++() {
      place_->incr();
      return *this;
    }
    bool operator==(const Iterator& other) const { return place_->equals(*other.place_); }
    bool operator!=(const Iterator& other) const { return !place_->equals(*other.place_); }

   private:
    std::unique_ptr<SymbolTableIteratorInterface> place_;
  };
  using iterator = Iterator;

  virtual ~BasicSymbolTable() = default;
  [[nodiscard]] virtual iterator begin() const = 0;
  [[nodiscard]] virtual iterator end() const = 0;
  /// Returns whether the text has a number.
  [[nodiscard]] virtual bool weakContains(const std::string& symbol) const = 0;
  /// Returns the number of a text; assigns a new number if necessary.
  virtual Domain encode(const std::string& symbol) = 0;
  /// Returns the text of a number, valid until the run ends.
  [[nodiscard]] virtual const std::string& decode(Domain index) const = 0;
  virtual Domain unsafeEncode(const std::string& symbol) = 0;
  [[nodiscard]] virtual const std::string& unsafeDecode(Domain index) const = 0;
  /// Returns the number of a text, and whether the number is new.
  virtual std::pair<Domain, bool> findOrInsert(const std::string& symbol) = 0;
};
using SymbolTable = BasicSymbolTable<RamDomain>;

/// The records of a program, by arity; the number 0 is nil.
template <class Domain>
class BasicRecordTable {
 public:
  virtual ~BasicRecordTable() = default;
  virtual void setNumLanes(std::size_t lanes) = 0;
  /// Returns the number of the record with these fields.
  virtual Domain pack(const Domain* fields, std::size_t arity) = 0;
  virtual Domain pack(const std::initializer_list<Domain>& fields) = 0;
  /// Returns the fields of a record of this arity, valid until the run ends; zeros for nil.
  [[nodiscard]] virtual const Domain* unpack(Domain record, std::size_t arity) const = 0;
  virtual void enumerate(
      const std::function<void(const Domain* fields, std::size_t arity, Domain record)>& visit) const = 0;
};
using RecordTable = BasicRecordTable<RamDomain>;

}  // namespace souffle
// NOLINTEND(readability-identifier-naming)
