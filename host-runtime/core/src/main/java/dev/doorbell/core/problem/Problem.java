package dev.doorbell.core.problem;

import org.jspecify.annotations.Nullable;

/**
 * Something that a user can fix, in the words of the input that caused it.
 *
 * @param code stable, {@code DB-} and an area letter and a number: C config, U usage, R run
 *     directory, E environment, P point
 * @param where file, line and column, option or point; null when the whole command is meant
 * @param what what is wrong
 * @param effect what it means for the command; null where it is obvious
 * @param fix what to do about it; null where the text of {@code what} already says it
 */
public record Problem(
    String code,
    @Nullable String where,
    String what,
    @Nullable String effect,
    @Nullable String fix) {

  /** A problem whose text says it all. */
  public static Problem of(String code, @Nullable String where, String what) {
    return new Problem(code, where, what, null, null);
  }

  public Problem fix(String advice) {
    return new Problem(code, where, what, effect, advice);
  }

  public Problem effect(String consequence) {
    return new Problem(code, where, what, consequence, fix);
  }

  /**
   * One line for {@code what}, and one each for effect and fix where there are any, with commands
   * as they are typed.
   */
  public String text() {
    StringBuilder text = new StringBuilder();
    if (where != null) {
      text.append(where).append("  ");
    }
    text.append(code).append("  ").append(what);
    if (effect != null) {
      text.append("\n  effect  ").append(Typed.in(effect));
    }
    if (fix != null) {
      text.append("\n  fix     ").append(Typed.in(fix));
    }
    return text.toString();
  }
}
