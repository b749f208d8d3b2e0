package dev.doorbell.push;

/**
 * DCTCP's window (RFC 8257): once a window of data the share of marked bytes goes into a moving
 * average, and half of that average of the window is given up; without marks a message more fits.
 */
final class AdaptiveWindow extends Window {
  private static final double GAIN = 1.0 / 16;

  private double alpha = 1;
  private double acknowledgedBytes;
  private double markedBytes;

  AdaptiveWindow(double bytes) {
    super(bytes);
  }

  @Override
  void acknowledged(int message, boolean marked) {
    acknowledgedBytes += message;
    markedBytes += marked ? message : 0;
    if (acknowledgedBytes < bytes) {
      return;
    }
    alpha += GAIN * (markedBytes / acknowledgedBytes - alpha);
    bytes = markedBytes > 0 ? Math.max(message, bytes * (1 - alpha / 2)) : bytes + message;
    acknowledgedBytes = 0;
    markedBytes = 0;
  }

  @Override
  void lost() {
    bytes /= 2;
    acknowledgedBytes = 0;
    markedBytes = 0;
  }
}
