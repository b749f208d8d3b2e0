package dev.doorbell.core.fabric.explore.litmus;

import java.util.List;
import java.util.Map;

/**
 * A litmus test as read from a file.
 *
 * @param name the file's own name for it
 * @param description one line; empty when there is none
 * @param threads the columns
 * @param locations names of the locations, by index; each a 32-bit word
 * @param usesProxies some name is an alias, or goes by another proxy than the generic one
 * @param initial their values before the first instruction, by index
 * @param filter executions that do not meet it are not looked at
 * @param quantifier what is claimed
 * @param condition of what
 * @param claim quantifier and condition as written
 */
public record LitmusTest(
    String name,
    String description,
    List<LitmusThread> threads,
    List<String> locations,
    boolean usesProxies,
    List<Integer> initial,
    Condition filter,
    Quantifier quantifier,
    Condition condition,
    String claim) {

  /**
   * A column.
   *
   * @param registers values before the first instruction; others begin as 0
   */
  public record LitmusThread(
      String name, ThreadPlace place, List<Instruction> code, Map<String, Integer> registers) {}

  /** How many threads run in the CTA of {@code thread}. */
  public int threadsOfCta(int thread) {
    ThreadPlace place = threads.get(thread).place();
    return (int) threads.stream().filter(other -> other.place().sameCta(place)).count();
  }
}
