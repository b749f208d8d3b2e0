/**
 * Requests and answers of served HCAs and of rendezvous: text over a Unix socket or TCP, one line
 * per message. Every line, queue and wait is bounded.
 */
@NullMarked
package dev.doorbell.interop.control;

import org.jspecify.annotations.NullMarked;
