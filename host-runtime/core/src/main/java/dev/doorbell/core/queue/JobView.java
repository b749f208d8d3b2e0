package dev.doorbell.core.queue;

import dev.doorbell.core.queue.generated.JobFields;

/** The task of a protocol kernel, mutable while the host fills it in. */
public final class JobView extends JobFields {
  /** Creates a job whose fields are 0. */
  public JobView() {}
}
