/** HCAs of more than one process, with the software HCA on wires that leave the process. */
@NullMarked
package dev.doorbell.experiments.session.remote;

import org.jspecify.annotations.NullMarked;
