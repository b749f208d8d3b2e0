package dev.doorbell.core.pcap;

import java.util.List;

/**
 * A whole capture.
 *
 * @param comment what its maker wrote about it, or empty
 * @param application what made it, or empty
 * @param frames in the order of the file
 */
public record Capture(String comment, String application, List<CapturedFrame> frames) {
  public Capture {
    frames = List.copyOf(frames);
  }
}
