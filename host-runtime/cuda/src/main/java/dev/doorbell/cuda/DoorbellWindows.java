package dev.doorbell.cuda;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import java.util.Arrays;

/**
 * Stands in for the doorbell registers of a software HCA: the GPU's stores land in pinned host
 * memory, where no device hears them, so this agent looks there and repeats them at the register.
 *
 * <p>Every mapping has words of its own, for one queue pair. A doorbell that another overwrites
 * before it was seen is no loss then: the later one names a later index of the same queue pair. Of
 * a WQE written through BlueFlame only the first 8 bytes are repeated, which tell an HCA to look at
 * the doorbell record; the WQE is in the ring as well.
 */
final class DoorbellWindows implements Agent {
  private static final long EMPTY = 0;

  private final Fabric fabric;
  private final Locus locus;
  private final ThreadPort port;
  private long[] words = new long[8];
  private long[] registers = new long[8];
  private int count;

  DoorbellWindows(Fabric fabric, Locus locus) {
    this.fabric = fabric;
    this.locus = locus;
    this.port = fabric.attachThread(locus, this);
  }

  /**
   * From now on the 8 bytes at {@code word} stand for the register.
   *
   * @param word host address in pinned memory, zero until the GPU stores there
   */
  void add(long word, long register) {
    if (count == words.length) {
      words = Arrays.copyOf(words, 2 * count);
      registers = Arrays.copyOf(registers, 2 * count);
    }
    words[count] = word;
    registers[count] = register;
    count++;
  }

  @Override
  public int step(int budget) {
    int rung = 0;
    for (int i = 0; i < count; i++) {
      long value = RawMemory.getLongAcquire(words[i]);
      if (value != EMPTY) {
        port.store64(registers[i], take(words[i], value), Access.MMIO | Access.SYS);
        rung++;
      }
    }
    return rung;
  }

  /** Empties the word and returns what it held: a doorbell of the same value would be seen too. */
  private static long take(long word, long seen) {
    long expected = seen;
    while (true) {
      long found = RawMemory.compareAndExchangeLong(word, expected, EMPTY);
      if (found == expected) {
        return found;
      }
      expected = found;
    }
  }

  void close() {
    fabric.detach(this);
    count = 0;
  }

  @Override
  public String where() {
    return "doorbell windows of " + locus;
  }
}
