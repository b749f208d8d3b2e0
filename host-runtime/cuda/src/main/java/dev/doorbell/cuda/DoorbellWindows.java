package dev.doorbell.cuda;

import dev.doorbell.core.agent.Agent;
import dev.doorbell.core.fabric.Access;
import dev.doorbell.core.fabric.Fabric;
import dev.doorbell.core.fabric.ThreadPort;
import dev.doorbell.core.memory.Locus;
import dev.doorbell.core.memory.RawMemory;
import java.util.Arrays;

/**
 * Relays doorbells of a GPU to a software HCA: the GPU stores to words in pinned host memory, which
 * this agent polls, and the agent repeats each store at the HCA's register.
 *
 * <p>Every mapping has words of its own, for one queue pair. A doorbell that is overwritten before
 * it was seen is not lost: the later one has a later index of the same queue pair. Of a WQE written
 * through BlueFlame only the first 8 bytes are repeated, on which an HCA reads the doorbell record;
 * the WQE is in the ring as well.
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
   * Relays the 8 bytes at {@code word} to a register.
   *
   * @param word host address in pinned memory; it holds zero until the GPU stores there
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
    int relayed = 0;
    for (int i = 0; i < count; i++) {
      long value = RawMemory.getLongAcquire(words[i]);
      if (value != EMPTY) {
        port.store64(registers[i], take(words[i], value), Access.MMIO | Access.SYS);
        relayed++;
      }
    }
    return relayed;
  }

  /** Empties the word and returns its value, so that a later doorbell of the same value is seen. */
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
