package dev.doorbell.experiments.cli.command;

/** Which Doorbell this is; the build's version, which a test compares. */
public final class Version {
  public static final String NUMBER = "0.2.0";

  private Version() {}
}
