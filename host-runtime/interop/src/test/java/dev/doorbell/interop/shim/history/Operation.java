package dev.doorbell.interop.shim.history;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * A request of a client to a word of somebody's memory.
 *
 * @param client the queue pair that it was posted on
 * @param number its place in that queue pair, from 0
 * @param a addend, compared value or written value
 * @param b swapped value
 * @param begin when it was posted, in nanoseconds of the monotonic clock
 * @param end when its completion was polled; {@link Long#MAX_VALUE} where none came, and nobody
 *     knows whether it was executed
 * @param value what was read or fetched
 */
record Operation(
    int client,
    long number,
    Kind kind,
    int word,
    long a,
    long b,
    long begin,
    long end,
    long value) {

  /** Verbs of reliable connections that need no receive. */
  enum Kind {
    WRITE,
    READ,
    ADD,
    CAS
  }

  /** Returns true if a completion told of it. */
  boolean isKnown() {
    return end != Long.MAX_VALUE;
  }

  /** Returns the word after this operation. */
  long apply(long before) {
    return switch (kind) {
      case WRITE -> a;
      case READ -> before;
      case ADD -> before + a;
      case CAS -> before == a ? b : before;
    };
  }

  /** Reads lines {@code begin NUMBER KIND WORD A B TIME} and {@code end NUMBER VALUE TIME}. */
  static List<Operation> parse(int client, List<String> lines) {
    Map<Long, Operation> operations = new TreeMap<>();
    for (String line : lines) {
      String[] words = line.split(" ", -1);
      long number = Long.parseLong(words[1]);
      if (words[0].equals("begin")) {
        operations.put(
            number,
            new Operation(
                client,
                number,
                Kind.valueOf(words[2].toUpperCase(Locale.ROOT)),
                Integer.parseInt(words[3]),
                Long.parseUnsignedLong(words[4]),
                Long.parseUnsignedLong(words[5]),
                Long.parseLong(words[6]),
                Long.MAX_VALUE,
                0));
      } else {
        operations.computeIfPresent(
            number,
            (_, begun) -> begun.ended(Long.parseUnsignedLong(words[2]), Long.parseLong(words[3])));
      }
    }
    return new ArrayList<>(operations.values());
  }

  /** The same operation, with its end. */
  Operation ended(long read, long time) {
    return new Operation(client, number, kind, word, a, b, begin, time, read);
  }
}
