package dev.doorbell.verbs;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/** Runs test classes in a guest, where there is no Maven. */
final class GuestSuite {
  /** Says what runs: a guest that hangs would say nothing. */
  private static final class Announcer implements TestExecutionListener {
    @Override
    public void executionStarted(TestIdentifier test) {
      if (test.isTest()) {
        System.out.println("running " + test.getDisplayName());
      }
    }
  }

  private GuestSuite() {}

  /**
   * Runs them all; the exit status says whether all passed.
   *
   * @param classes names of test classes
   */
  public static void main(String[] classes) throws ClassNotFoundException {
    LauncherDiscoveryRequestBuilder request = LauncherDiscoveryRequestBuilder.request();
    for (String name : classes) {
      request.selectors(selectClass(Class.forName(name)));
    }
    SummaryGeneratingListener listener = new SummaryGeneratingListener();
    LauncherDiscoveryRequest built = request.build();
    LauncherFactory.create().execute(built, listener, new Announcer());
    TestExecutionSummary summary = listener.getSummary();
    PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    summary
        .getFailures()
        .forEach(
            failure ->
                out.printf(
                    "FAILED %s: %s%n",
                    failure.getTestIdentifier().getDisplayName(), failure.getException()));
    out.printf(
        "guest: %d passed, %d failed, %d skipped%n",
        summary.getTestsSucceededCount(),
        summary.getTestsFailedCount(),
        summary.getTestsAbortedCount() + summary.getTestsSkippedCount());
    out.flush();
    System.exit(summary.getTotalFailureCount() == 0 ? 0 : 1);
  }
}
