package dev.doorbell.interop.shim.history;

import dev.doorbell.interop.shim.history.Operation.Kind;
import java.util.ArrayList;
import java.util.List;

/**
 * The order of reliable connections (InfiniBand Architecture Specification 1, 9.5, transaction
 * ordering), for words that one client alone writes, with ever larger numbers, and that all read.
 * Linearizability of such a word is the first three of these rules.
 */
final class WordOrder {
  private final List<Operation> operations;
  private final List<String> broken = new ArrayList<>();

  private WordOrder(List<Operation> operations) {
    this.operations = operations;
  }

  /** Returns the rules that are broken on a word, each with the operations that break it. */
  static List<String> broken(List<Operation> word) {
    WordOrder order = new WordOrder(word);
    order.readsSeeWrites();
    order.readsDoNotGoBack();
    return order.broken;
  }

  private List<Operation> reads() {
    return operations.stream().filter(each -> each.kind() == Kind.READ && each.isKnown()).toList();
  }

  private void readsSeeWrites() {
    for (Operation read : reads()) {
      long least = 0;
      boolean begun = read.value() == 0;
      for (Operation write : operations) {
        if (write.kind() != Kind.WRITE) {
          continue;
        }
        if (write.end() < read.begin()
            || (write.client() == read.client() && write.number() < read.number())) {
          least = Math.max(least, write.a());
        }
        begun |= write.a() == read.value() && write.begin() < read.end();
      }
      if (read.value() < least) {
        broken.add("a read behind the write of %d sees an older value: %s".formatted(least, read));
      }
      if (!begun) {
        broken.add("nobody had written what is read: " + read);
      }
    }
  }

  private void readsDoNotGoBack() {
    List<Operation> reads = reads();
    for (Operation later : reads) {
      for (Operation earlier : reads) {
        boolean before =
            earlier.end() < later.begin()
                || (earlier.client() == later.client() && earlier.number() < later.number());
        if (before && earlier.value() > later.value()) {
          broken.add("%s, and later %s".formatted(earlier, later));
        }
      }
    }
  }

  /**
   * Returns what breaks the rule of flags: whoever sees a flag sees the data that was written
   * before it on the same queue pair, and reads of a queue pair are executed in order.
   */
  static List<String> brokenFlags(List<Operation> data, List<Operation> flags) {
    List<String> broken = new ArrayList<>();
    for (Operation flag : new WordOrder(flags).reads()) {
      for (Operation seen : new WordOrder(data).reads()) {
        if (seen.client() == flag.client()
            && seen.number() > flag.number()
            && seen.value() < flag.value()) {
          broken.add("a flag without its data: %s, and then %s".formatted(flag, seen));
        }
      }
    }
    return broken;
  }
}
