/* Fields of firmware commands, as mlx5_ifc.h places them. */
#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { QPC = 0x18 };

static inline void put(uint8_t *command, unsigned at, unsigned high, unsigned low, uint32_t value)
{
	uint32_t word, mask = (high - low == 31 ? ~0u : (1u << (high - low + 1)) - 1) << low;
	memcpy(&word, command + at, 4);
	word = htobe32((be32toh(word) & ~mask) | (value << low & mask));
	memcpy(command + at, &word, 4);
}

static inline uint32_t get(const uint8_t *answer, unsigned at, unsigned high, unsigned low)
{
	uint32_t word;
	memcpy(&word, answer + at, 4);
	return be32toh(word) >> low & (high - low == 31 ? ~0u : (1u << (high - low + 1)) - 1);
}

static inline void put64(uint8_t *command, unsigned at, uint64_t value)
{
	put(command, at, 31, 0, (uint32_t)(value >> 32));
	put(command, at + 4, 31, 0, (uint32_t)value);
}
