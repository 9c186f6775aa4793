# The dumbbell of Sojourn's scenarios in ns-2 2.35, for comparison and for timing.
#
#   ns dumbbell.tcl flows 120 rate 8e6 law red min 50 max 150 ecn 1 seed 3
#
# Prints one "name value" a line. What is counted is counted after the warm-up.
# Queue lengths are sampled every 10 ms and leave out the packet on the wire.
# "adaptive 1" makes RED adaptive; with min, max or weight 0 it then chooses them itself.

array set is {
    flows 120  rate 8e6  delay 0.020  buffer 300  packet 1000
    access_rate 10e6  access_from 0.038  access_to 0.042
    cc reno  ecn 1  law tail_drop  seed 1  duration 100  warmup 10  start 1  quiet 0
    min 50  max 150  weight 0.002  max_p 0.1  gentle 1  mark_below_p 0.1
    adaptive 0  target_delay 0.005
    target 100  a 1.822e-5  b 1.816e-5  hertz 160  virtual 0.98
    gamma 0.001  phi 1.001  period 0.002
}
foreach {key value} $argv {
    if {![info exists is($key)]} { puts stderr "dumbbell.tcl: unknown key $key"; exit 2 }
    set is($key) $value
}
array set queue_class { tail_drop DropTail red RED pi PI avq Vq rem REM }
array set agent_class { reno TCP/Reno newreno TCP/Newreno sack TCP/Sack1 }
array set sink_class { reno TCPSink newreno TCPSink sack TCPSink/Sack1 }

set ns [new Simulator]
remove-all-packet-headers
add-packet-header IP TCP Flags
$ns rtproto Manual
$defaultRNG seed $is(seed)
set draws [new RNG]
$draws seed [expr {100003 * $is(seed) + 17}]

# ns-2 adds 40 bytes of header to packetSize_.
Agent/TCP set packetSize_ [expr {$is(packet) - 40}]
Agent/TCP set window_ 1000
Agent/TCP set ecn_ $is(ecn)
foreach {name key} {thresh_ min maxthresh_ max q_weight_ weight gentle_ gentle mark_p_ mark_below_p setbit_ ecn mean_pktsize_ packet adaptive_ adaptive targetdelay_ target_delay} {
    Queue/RED set $name $is($key)
}
Queue/RED set linterm_ [expr {1.0 / $is(max_p)}]
Queue/RED set bytes_ false
Queue/RED set queue_in_bytes_ false
foreach {name key} {a_ a b_ b w_ hertz qref_ target setbit_ ecn mean_pktsize_ packet} {
    Queue/PI set $name $is($key)
}
# AVQ's virtual link begins as the real one.
Queue/Vq set ecnlim_ 1.0
foreach {name key} {gamma_ virtual markpkts_ ecn mean_pktsize_ packet} {
    Queue/Vq set $name $is($key)
}
foreach {name key} {gamma_ gamma phi_ phi pupdtime_ period pbo_ target markpkts_ ecn mean_pktsize_ packet} {
    Queue/REM set $name $is($key)
}

# Routes by hand: ns-2's own set-up is cubic in the number of nodes.
proc route {node args} {
    set module [$node get-module Manual]
    if {$module eq ""} {
        set module [new RtModule/Manual]
        $node register-module $module
    }
    eval $module add-route-to-adj-node $args
}
set left [$ns node]
set right [$ns node]
$ns simplex-link $left $right $is(rate) $is(delay) $queue_class($is(law))
$ns simplex-link $right $left $is(rate) $is(delay) DropTail
$ns queue-limit $left $right $is(buffer)
$ns queue-limit $right $left 100000
route $left -default $right
route $right -default $left

for {set i 0} {$i < $is(flows)} {incr i} {
    set share [expr {$is(flows) > 1 ? double($i) / ($is(flows) - 1) : 0.0}]
    set delay [expr {$is(access_from) + ($is(access_to) - $is(access_from)) * $share}]
    set source [$ns node]
    set sink [$ns node]
    foreach {end router} [list $source $left $sink $right] {
        $ns duplex-link $end $router $is(access_rate) $delay DropTail
        $ns queue-limit $end $router 100000
        $ns queue-limit $router $end 100000
        route $end -default $router
        route $router $end
    }
    set tcp($i) [new Agent/$agent_class($is(cc))]
    set receiver [new Agent/$sink_class($is(cc))]
    $ns attach-agent $source $tcp($i)
    $ns attach-agent $sink $receiver
    $ns connect $tcp($i) $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp($i)
    $ns at [$draws uniform 0 $is(start)] "$ftp start"
}

set counters {parrivals_ pdepartures_ pdrops_ pmarks_ bdepartures_}
if {!$is(quiet)} { set monitor [$ns monitor-queue $left $right ""] }
set n 0; set sum 0.0; set squares 0.0
proc sample {} {
    global ns monitor n sum squares
    set q [$monitor set pkts_]
    incr n
    set sum [expr {$sum + $q}]
    set squares [expr {$squares + double($q) * $q}]
    $ns at [expr {[$ns now] + 0.01}] sample
}
proc start_measuring {} {
    global is monitor counters before tcp acked_before
    foreach counter $counters { set before($counter) [$monitor set $counter] }
    for {set i 0} {$i < $is(flows)} {incr i} { set acked_before($i) [$tcp($i) set ack_] }
    sample
}
proc finish {} {
    global is monitor counters before n sum squares tcp acked_before
    if {$is(quiet)} {
        # Packets that were acknowledged: the cheap count, for timing.
        set acked 0
        for {set i 0} {$i < $is(flows)} {incr i} { incr acked [$tcp($i) set ack_] }
        puts "acknowledged_packets $acked"
        exit 0
    }
    foreach counter $counters { set got($counter) [expr {[$monitor set $counter] - $before($counter)}] }
    set seconds [expr {$is(duration) - $is(warmup)}]
    set mean [expr {$sum / $n}]
    puts "queue_mean_packets $mean"
    puts "queue_std_packets [expr {sqrt(max(0.0, $squares / $n - $mean * $mean))}]"
    # Counted in packets: ns-2's byte counters wrap at 2^31.
    puts "utilization [expr {8.0 * $is(packet) * $got(pdepartures_) / ($is(rate) * $seconds)}]"
    puts "drop_ratio [expr {double($got(pdrops_)) / $got(parrivals_)}]"
    puts "mark_ratio [expr {double($got(pmarks_)) / $got(parrivals_)}]"
    set acked 0.0; set acked_squares 0.0
    for {set i 0} {$i < $is(flows)} {incr i} {
        set packets [expr {[$tcp($i) set ack_] - $acked_before($i)}]
        set acked [expr {$acked + $packets}]
        set acked_squares [expr {$acked_squares + double($packets) * $packets}]
    }
    puts "goodput_bps [expr {8.0 * ($is(packet) - 40) * $acked / $seconds}]"
    puts "jain_index [expr {$acked * $acked / ($is(flows) * $acked_squares)}]"
    puts "events [expr {$got(pdrops_) + $got(pmarks_)}]"
    exit 0
}
if {!$is(quiet)} { $ns at $is(warmup) start_measuring }
$ns at $is(duration) finish
$ns run
