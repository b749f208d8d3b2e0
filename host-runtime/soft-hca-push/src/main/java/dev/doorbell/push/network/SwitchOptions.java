package dev.doorbell.push.network;

/**
 * What a {@link Switch} is.
 *
 * @param nanos one-way latency of each cable: from host to switch, and from switch to host
 * @param bytesPerNano rate at which each port sends
 * @param bufferBytes of the buffer that all ports share; a frame that finds no room is lost
 * @param markBytes a frame that finds more than this in its port's queue is marked (ECN); 0 marks
 *     nothing
 * @param pauseBytes a host with more than this in the buffer is paused (PFC, XOFF); 0 pauses
 *     nobody. Nothing is lost only where the buffer has room above the thresholds for what is under
 *     way when the pause arrives
 * @param resumeBytes it may go on when it has no more than this there (XON)
 */
public record SwitchOptions(
    long nanos,
    double bytesPerNano,
    int bufferBytes,
    int markBytes,
    int pauseBytes,
    int resumeBytes) {

  public SwitchOptions {
    if (nanos < 0 || !(bytesPerNano > 0) || bufferBytes <= 0) {
      throw new IllegalArgumentException(
          "latency %d ns, rate %s bytes/ns, buffer %d bytes"
              .formatted(nanos, bytesPerNano, bufferBytes));
    }
    if (markBytes < 0 || pauseBytes < 0 || resumeBytes < 0 || resumeBytes > pauseBytes) {
      throw new IllegalArgumentException(
          "mark %d, pause %d, resume %d bytes".formatted(markBytes, pauseBytes, resumeBytes));
    }
  }

  /** The same without marks and pauses: it loses what does not fit. */
  public SwitchOptions lossy() {
    return new SwitchOptions(nanos, bytesPerNano, bufferBytes, 0, 0, 0);
  }
}
