/**
 * More than one process: what an HCA that is a process of its own offers and is asked, and how the
 * processes of one job find each other. Text over TCP, one line a message; no line, no queue and no
 * wait is without a bound.
 */
@NullMarked
package dev.doorbell.experiments.remote;

import org.jspecify.annotations.NullMarked;
