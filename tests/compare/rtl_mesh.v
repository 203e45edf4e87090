// SPDX-License-Identifier: Apache-2.0
// A k x k mesh of the routers under test: sources that send the packets of a file as soon as there is a credit, sinks that take
// a flit a cycle. Prints the cycle in which each flit reaches its sink.
`default_nettype none
module testbench;
`include "c_functions.v"
`include "c_constants.v"
`include "rtr_constants.v"
`include "vcr_constants.v"
`include "parameters.v"
   localparam K = `SIDE;
   localparam N = K * K;
   localparam V = num_message_classes * num_resource_classes * num_vcs_per_class;
   localparam VW = clogb(V);
   localparam DEPTH = buffer_size / V;
   localparam P = 5;
   localparam PW = 3;
   localparam DW = clogb(K);
   localparam CW = 1 + VW + 2 + flit_data_width;
   localparam FW = 1 + VW;

   reg clk = 0, reset = 1;
   wire [0:P*CW-1] out [0:N-1];
   wire [0:P*FW-1] credit_out [0:N-1];
   reg [0:CW-1] inject [0:N-1];

   genvar r;
   generate
      for (r = 0; r < N; r = r + 1) begin: nodes
         localparam X = r % K, Y = r / K;           // in the mesh; addresses count from the other end
         wire [0:DW-1] ax = K - 1 - X, ay = K - 1 - Y;
         wire [0:P*CW-1] in;
         wire [0:P*FW-1] credit_in;
         // ports 0 and 1: towards smaller and larger addresses of dimension 0, 2 and 3 of dimension 1, 4: the node
         if (X + 1 < K) begin
            assign in[0*CW +: CW] = out[r+1][1*CW +: CW];
            assign credit_in[0*FW +: FW] = credit_out[r+1][1*FW +: FW];
         end else begin
            assign in[0*CW +: CW] = 0;
            assign credit_in[0*FW +: FW] = 0;
         end
         if (X > 0) begin
            assign in[1*CW +: CW] = out[r-1][0*CW +: CW];
            assign credit_in[1*FW +: FW] = credit_out[r-1][0*FW +: FW];
         end else begin
            assign in[1*CW +: CW] = 0;
            assign credit_in[1*FW +: FW] = 0;
         end
         if (Y + 1 < K) begin
            assign in[2*CW +: CW] = out[r+K][3*CW +: CW];
            assign credit_in[2*FW +: FW] = credit_out[r+K][3*FW +: FW];
         end else begin
            assign in[2*CW +: CW] = 0;
            assign credit_in[2*FW +: FW] = 0;
         end
         if (Y > 0) begin
            assign in[3*CW +: CW] = out[r-K][2*CW +: CW];
            assign credit_in[3*FW +: FW] = credit_out[r-K][2*FW +: FW];
         end else begin
            assign in[3*CW +: CW] = 0;
            assign credit_in[3*FW +: FW] = 0;
         end
         assign in[4*CW +: CW] = inject[r];
         assign credit_in[4*FW +: FW] = out[r][4*CW +: FW];   // a sink gives a flit's room back as it sees it
         wire error;
         router_wrap router(.clk(clk), .reset(reset), .router_address({ax, ay}), .channel_in_ip(in),
            .flow_ctrl_out_ip(credit_out[r]), .channel_out_op(out[r]), .flow_ctrl_in_op(credit_in), .error(error));
         always @(posedge clk) if (!reset && error) $display("ERROR cycle %0d router %0d", cycle, r);
      end
   endgenerate

   // packets, in the order of the file, which is that of each source too
   integer file, count, i, n, v, found, status;
   integer when_ [0:`MOST-1], from_ [0:`MOST-1], to_ [0:`MOST-1], size_ [0:`MOST-1], next_ [0:`MOST-1];
   integer first [0:N-1], last [0:N-1], sent [0:N-1], vc_now [0:N-1];
   integer credits [0:N*V-1];
   localparam WAIT = flow_ctrl_bypass ? 2 : 3;
   reg [0:FW-1] returned [0:N-1][0:WAIT-1];
   reg [0:FW-1] flow;
   integer cycle, left, limit;
   reg [0:DW-1] dx, dy, sx, sy;
   reg [0:PW-1] port;
   reg [0:flit_data_width-1] data;
   reg [0:CW-1] flit;
   reg [8*200:1] name;

   initial begin
      for (n = 0; n < N; n = n + 1) begin
         first[n] = -1; last[n] = -1; sent[n] = 0; vc_now[n] = 0; inject[n] = 0;
         for (v = 0; v < WAIT; v = v + 1) returned[n][v] = 0;
         for (v = 0; v < V; v = v + 1) credits[n*V+v] = DEPTH;
      end
      if (!$value$plusargs("packets=%s", name)) $finish;
      if (!$value$plusargs("limit=%d", limit)) limit = 100000;
      file = $fopen(name, "r");
      count = 0;
      while (!$feof(file)) begin
         status = $fscanf(file, "%d %d %d %d\n", when_[count], from_[count], to_[count], size_[count]);
         if (status == 4) begin
            n = from_[count];
            next_[count] = -1;
            if (last[n] < 0) first[n] = count; else next_[last[n]] = count;
            last[n] = count;
            count = count + 1;
         end
      end
      left = count;
      cycle = 0;
      #1 clk = 1; #1 clk = 0; #1 clk = 1; #1 clk = 0;
      reset = 0;
      while (left > 0 && cycle < limit) begin
         // what the wires show in this cycle
         for (n = 0; n < N; n = n + 1) begin
            flit = out[n][4*CW +: CW];
            if (flit[0]) begin
               i = flit[CW-32 +: 32];
               // the flit is on the channel now and at its sink in the next cycle
               $display("%0d %0d %0d", i, flit[CW-40 +: 8], cycle + 1);
               if (flit[1+VW+1]) left = left - 1;
            end
            // a source counts a credit as late as a router does
            flow = returned[n][WAIT-1];
            if (flow[0]) begin
               v = V > 1 ? flow[1 +: (VW > 0 ? VW : 1)] : 0;
               credits[n*V+v] = credits[n*V+v] + 1;
            end
            for (v = WAIT - 1; v > 0; v = v - 1) returned[n][v] = returned[n][v-1];
            returned[n][0] = credit_out[n][4*FW +: FW];
         end
         // sources decide
         for (n = 0; n < N; n = n + 1) begin
            flit = 0;
            i = first[n];
            if (i >= 0 && when_[i] <= cycle) begin
               found = sent[n] > 0;
               if (!found)  // the next VC in turn that has room
                  for (v = 1; v <= V && !found; v = v + 1)
                     if (credits[n*V + (vc_now[n] + v) % V] > 0) begin
                        vc_now[n] = (vc_now[n] + v) % V;
                        found = 1;
                     end
               if (found && credits[n*V+vc_now[n]] > 0) begin
                  dx = K - 1 - to_[i] % K; dy = K - 1 - to_[i] / K;
                  sx = K - 1 - n % K; sy = K - 1 - n / K;
                  port = dx < sx ? 0 : dx > sx ? 1 : dy < sy ? 2 : dy > sy ? 3 : 4;
                  data = 0;
                  data[0:PW+2*DW-1] = {port, dx, dy};
                  data[flit_data_width-40 +: 8] = sent[n];
                  data[flit_data_width-32 +: 32] = i;
                  flit[0] = 1;
                  if (V > 1) flit[1 +: (VW > 0 ? VW : 1)] = vc_now[n];
                  flit[1+VW] = sent[n] == 0;
                  flit[1+VW+1] = sent[n] == size_[i] - 1;
                  flit[1+VW+2 +: flit_data_width] = data;
                  credits[n*V+vc_now[n]] = credits[n*V+vc_now[n]] - 1;
                  sent[n] = sent[n] + 1;
                  if (sent[n] == size_[i]) begin
                     sent[n] = 0;
                     first[n] = next_[i];
                  end
               end
            end
            inject[n] = flit;
         end
         #1 clk = 1; #1 clk = 0;
         cycle = cycle + 1;
      end
      $display("END %0d packets left at cycle %0d", left, cycle);
      $finish;
   end
endmodule
