package dev.doorbell.launcher;

/** Ends the build with a message for its user and the exit code that the launcher acts on. */
final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The sources do not compile. */
  static final int COMPILATION = 1;

  /** The arguments are wrong. */
  static final int USAGE = 2;

  /** Only a full build by Maven can bring the jars up to date. */
  static final int NEEDS_FULL_BUILD = 3;

  final int code;

  Failure(int code, String message) {
    super(message, null, false, false);
    this.code = code;
  }
}
