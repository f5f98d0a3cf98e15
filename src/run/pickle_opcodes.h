// The opcodes of Python's pickle protocol that stand for plain data, as documented in Lib/pickletools.py.
#pragma once

#include <cstdint>

namespace torchmem::opcode {

constexpr uint8_t proto = 0x80;
constexpr uint8_t frame = 0x95;
constexpr uint8_t stop = '.';
constexpr uint8_t mark = '(';
constexpr uint8_t pop = '0';
constexpr uint8_t pop_mark = '1';
constexpr uint8_t dup = '2';
constexpr uint8_t none = 'N';
constexpr uint8_t new_true = 0x88;
constexpr uint8_t new_false = 0x89;
constexpr uint8_t bin_int = 'J';
constexpr uint8_t bin_int1 = 'K';
constexpr uint8_t bin_int2 = 'M';
constexpr uint8_t long1 = 0x8a;
constexpr uint8_t long4 = 0x8b;
constexpr uint8_t bin_float = 'G';
constexpr uint8_t bin_unicode = 'X';
constexpr uint8_t short_bin_unicode = 0x8c;
constexpr uint8_t bin_unicode8 = 0x8d;
constexpr uint8_t bin_bytes = 'B';
constexpr uint8_t short_bin_bytes = 'C';
constexpr uint8_t bin_bytes8 = 0x8e;
constexpr uint8_t bytearray8 = 0x96;
constexpr uint8_t bin_string = 'T';
constexpr uint8_t short_bin_string = 'U';
constexpr uint8_t empty_list = ']';
constexpr uint8_t append = 'a';
constexpr uint8_t appends = 'e';
constexpr uint8_t list = 'l';
constexpr uint8_t empty_tuple = ')';
constexpr uint8_t tuple = 't';
constexpr uint8_t tuple1 = 0x85;
constexpr uint8_t tuple2 = 0x86;
constexpr uint8_t tuple3 = 0x87;
constexpr uint8_t empty_dict = '}';
constexpr uint8_t dict = 'd';
constexpr uint8_t set_item = 's';
constexpr uint8_t set_items = 'u';
constexpr uint8_t bin_get = 'h';
constexpr uint8_t long_bin_get = 'j';
constexpr uint8_t bin_put = 'q';
constexpr uint8_t long_bin_put = 'r';
constexpr uint8_t memoize = 0x94;

// What asks to import, call, build or fetch something: recognised only to be refused by name.
constexpr uint8_t global = 'c';
constexpr uint8_t stack_global = 0x93;
constexpr uint8_t reduce = 'R';
constexpr uint8_t build = 'b';
constexpr uint8_t inst = 'i';
constexpr uint8_t obj = 'o';
constexpr uint8_t new_obj = 0x81;
constexpr uint8_t new_obj_ex = 0x92;
constexpr uint8_t ext1 = 0x82;
constexpr uint8_t ext2 = 0x83;
constexpr uint8_t ext4 = 0x84;
constexpr uint8_t pers_id = 'P';
constexpr uint8_t bin_pers_id = 'Q';

}  // namespace torchmem::opcode
