package dev.doorbell.experiments.cli;

public final class Try {
  public static void main(String[] a) {
    Session s = new Session();
    ExitCode c = s.type(a);
    System.out.print(s.out());
    System.err.print(s.err());
    System.err.println("exit " + c.status());
    System.exit(c.status());
  }
}
