-- nightly load, do not run by hand
/* owner: data office
   last change: march */
set search_path to mart;
insert into mart.sales_day (day, shop_id, total) select o.day, o.shop_id, sum(o.net) as total from raw.orders o join raw.shops s on s.id = o.shop_id -- only open shops
where s.closed is null and o.note <> 'void; see -- below' group by o.day, o.shop_id;
update mart.shops set region = 'north' where id in (select shop_id from raw.regions where code = 'N');
delete from mart.sales_day where day < '2020-01-01'; /* history lives in the archive; see delete policy */
with late as (select id, paid_on - due_on as days from raw.invoices where paid_on > due_on), worst as (select id from late where days > 60) select c.name, count(*) as n from raw.customers c join raw.invoices i on i.customer_id = c.id join worst w on w.id = i.id group by c.name order by n desc;
create table mart.stock_copy as select * from raw.stock left outer join raw.bins on bins.id = stock.bin_id;
create or replace view mart.open_orders as select id, day from raw.orders where state = 'open';
drop table if exists mart.old_sales;
select a.id, b.id from raw.left_side a, raw.right_side b where a.k = b.k and a.t = 'from raw.fake_table';
insert into audit.log (what, at) values ('nightly; done', now());
select day, (select max(total) from mart.sales_day) as best from mart.calendar where day between '2024-01-01' and '2024-03-31' union all select day, 0 from mart.holidays;
