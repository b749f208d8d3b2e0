package dev.doorbell.core.fabric;

/**
 * How instructions of one thread follow each other where they do not wait for memory, in
 * picoseconds: an instruction is issued when the one before it has been and its operands are there.
 *
 * @param issue from one instruction to the next that does not wait for it
 * @param result from the issue of an instruction that computes until its result can be an operand
 * @param decision from the issue of a comparison until a branch or a guard can use its predicate
 * @param jump from the issue of a conditional branch to the next instruction
 * @param call what a call and its return take, together
 */
public record Pipeline(long issue, long result, long decision, long jump, long call) {
  /** Nothing waits: every instruction takes its turn and no more. */
  public static final Pipeline NONE = new Pipeline(0, 0, 0, 0, 0);

  public Pipeline {
    if (Math.min(Math.min(issue, result), Math.min(Math.min(decision, jump), call)) < 0) {
      throw new IllegalArgumentException("times below 0");
    }
  }

  /** Whether anything is known: if not, every instruction has the same price. */
  public boolean known() {
    return !equals(NONE);
  }
}
