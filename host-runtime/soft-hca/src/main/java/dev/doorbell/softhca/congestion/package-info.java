/**
 * Congestion controls of reliable connections: how fast a queue pair may send. The reaction point
 * (sender) is a {@link dev.doorbell.softhca.congestion.CongestionControl} that the requester asks
 * before each packet; the notification point (receiver), which answers marked packets with CNPs, is
 * part of the responder.
 */
@NullMarked
package dev.doorbell.softhca.congestion;

import org.jspecify.annotations.NullMarked;
